//! Text for people, as codes with arguments: the core decides what to say, and a shell in which language.
//!
//! There is one English sentence for each code, below. Shells that don't translate print it; the extension looks the
//! sentence up in the bundle of the user's language. Text that a server wrote is an argument, never a code.

use std::fmt;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One sentence, or one label, for people. Its [`Display`](fmt::Display) output is English.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[non_exhaustive]
pub struct Message {
    /// Which sentence it is.
    pub code: MessageCode,
    /// What replaces `{0}`, `{1}` and so on.
    pub args: Vec<String>,
}

impl Message {
    pub(crate) fn new<const N: usize>(code: MessageCode, args: [&dyn ToString; N]) -> Self {
        Self { code, args: args.iter().map(|argument| argument.to_string()).collect() }
    }
}

impl From<MessageCode> for Message {
    fn from(code: MessageCode) -> Self {
        Self { code, args: Vec::new() }
    }
}

impl fmt::Display for Message {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut pieces = self.code.english().split('{');
        formatter.write_str(pieces.next().unwrap_or_default())?;
        for piece in pieces {
            let (number, rest) = piece.split_once('}').unwrap_or(("", piece));
            let argument = number.parse::<usize>().ok().and_then(|number| self.args.get(number));
            formatter.write_str(argument.map_or("", String::as_str))?;
            formatter.write_str(rest)?;
        }
        Ok(())
    }
}

/// Joins messages in English: sentences with a space, the details of a line with a comma.
pub fn join_messages(messages: &[Message], separator: &str) -> String {
    messages.iter().map(Message::to_string).collect::<Vec<_>>().join(separator)
}

macro_rules! messages {
    ($($code:ident = $english:literal,)*) => {
        /// Every sentence and label that the core has for people.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[cfg_attr(test, derive(ts_rs::TS), ts(rename_all = "camelCase"))]
        #[non_exhaustive]
        pub enum MessageCode {
            $(#[doc = $english] $code,)*
        }

        impl MessageCode {
            /// Every code.
            pub const ALL: &[Self] = &[$(Self::$code,)*];

            /// Returns the English sentence, with `{0}`, `{1}` and so on for the arguments.
            pub fn english(self) -> &'static str {
                match self {
                    $(Self::$code => $english,)*
                }
            }

            fn name(self) -> &'static str {
                match self {
                    $(Self::$code => stringify!($code),)*
                }
            }
        }
    };
}

/// Writes the name in camel case. Derived code would have a branch for each name, which takes six kilobytes of
/// WebAssembly.
impl Serialize for MessageCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut name = self.name().to_owned();
        name.get_mut(..1).map(str::make_ascii_lowercase);
        serializer.serialize_str(&name)
    }
}

impl<'de> Deserialize<'de> for MessageCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let found = Self::ALL.iter().find(|code| {
            let (own, name) = (code.name(), name.as_str());
            own.eq_ignore_ascii_case(name) && own.get(1..) == name.get(1..)
        });
        found.copied().ok_or_else(|| D::Error::custom("an unknown sentence"))
    }
}

messages! {
    // What a server wrote, or what is the same in every language.
    Plain = "{0}",

    // What went wrong, if the server doesn't say.
    HttpStatus = "HTTP {0}:",
    KeyRefused = "The server does not accept the key.",
    Forbidden = "The server forbids this.",
    NoCreditLeft = "There is no credit left.",
    UnknownModel = "The server does not know this model or address.",
    ConversationTooLong = "The conversation is too long for this model.",
    RequestRefused = "The server refused the request.",
    TooManyRequests = "Too many requests.",
    ServerProblem = "The server has a problem.",
    NotAnEventStream = "The server answered with something that is not an event stream.",
    ConnectionFailed = "The connection failed.",
    UnnamedServerError = "The server reported an error without saying which.",
    ToolCallUnusable = "A tool call could not be used.",
    AnswerTooLarge = "The answer is too large.",
    WebPage = "It sent a web page with the title \"{0}\".",

    // What went wrong with the connection.
    NoConnection = "No connection to {0}.",
    NoAnswerInTime = "{0} did not answer in time.",
    ConnectionBroke = "The connection to {0} broke before the answer was complete.",
    StoppedSending = "{0} stopped sending in the middle of the answer.",
    Redirects = "{0} redirects to another address, and the key must not follow.",
    ResponseTooLarge = "The response from {0} is too large and was not read to its end.",

    // What went wrong in an answer.
    ToolCallUnfinished = "The model's call to the tool \"{0}\" was not finished.",
    ToolCallNotAnObject = "The model's call to the tool \"{0}\" has arguments that are not a JSON object.",
    ToolCallWithoutName = "The model's call to the tool \"{0}\" has no tool name.",
    AnswerLargerThan = "The answer is larger than {0} bytes.",
    EventLargerThan = "One event of the answer is larger than {0} bytes.",
    EventDenserThan = "One event of the answer has more than {0} bytes of JSON that is not plain text.",
    EventNeedsMemory = "One event of the answer needs more than {0} bytes of memory.",
    TooManyItems = "The answer has more than {0} output items.",
    TooManyContentParts = "The answer has more than {0} content parts in one item.",
    TooMuchContent = "The answer has more than {0} bytes of content.",
    TooManyArguments = "The answer has more than {0} bytes of tool arguments, sources and encrypted thinking.",

    OutOfMemory = "This answer is too large: it used up the memory for one answer.",
    Crashed = "Sluice crashed while it read this answer.",

    // When to try again.
    WaitSeconds = "The server asks to wait {0} s.",
    WaitMinutes = "The server asks to wait {0} min.",
    WaitHours = "The server asks to wait {0} hours.",
    WaitDays = "The server asks to wait {0} days.",
    WaitMoreThanAYear = "The server asks to wait more than a year.",

    // What to do next.
    EnterKey = "Enter a valid API key.",
    AskForAccess = "Ask for access, or choose another model.",
    AddCredit = "Add credit or raise the budget.",
    ChooseListedModel = "Choose another model; the list may be out of date.",
    StartNewChat = "Start a new chat or let it be summarized.",
    CheckModelSettings = "Check the settings for this model.",
    WaitAMoment = "Wait a moment, then try again.",
    TryLater = "Try again later or choose another model.",
    TryAfterThat = "Try again after that, or choose another model.",
    CheckEndpoint = "Check the base URL: this does not look like an Open Responses endpoint.",
    CheckConnection = "Check the connection and try again.",
    TryAgain = "Try again.",
    AskAgain = "Ask again.",
    AskForLess = "Ask for less at once, or choose another model.",
    CheckNetwork = "Check the network, the proxy settings and the base URL.",
    TryAnotherModel = "Try again; if it stays silent, try another model.",
    RaiseIdleTimeout = "Try again; the idle time-out is a setting.",
    UseFinalAddress = "Set the base URL to the final address.",
    CheckBaseUrl = "Check the base URL.",
    NoApiHere = "Check the base URL: there is no Open Responses API at {0}, and none at {1}.",
    OtherBaseUrl = "There is no Open Responses API at {0}, but there is one at {1}. Change the base URL to {1}.",
    AskForShorter = "Ask for a shorter answer.",
    ReportCrash = "Ask again, and report this as a bug in Sluice if it happens again.",

    // Answers that succeeded and still show nothing, or too little.
    OnlyThought = "The model thought and then said nothing. Ask again, lower the thinking effort, or choose another model.",
    Filtered = "The provider's content filter removed the answer. Rephrase the question or choose another model.",
    LimitBeforeFirstWord = "The output limit was used up before the first word. Lower the thinking effort or choose another model.",
    EmptyAnswer = "The model sent an empty answer. Ask again, or choose another model.",
    FilterCutOff = "The provider's content filter cut the answer off here.",
    LimitCutOff = "The answer reached the model's output limit and is cut off here. Say \"go on\" to continue.",
    EndedEarly = "The server ended the answer early, without saying why.",

    // The warning before a request.
    TooManyTools = "The server does not accept more than {0} tools at once, so the model is offered only the first ones. To choose them yourself, turn off others in the chat's tool picker.",
    NearlyFull = "This request has about {0} tokens, {1} % of {2}'s input limit ({3}). Summarize the conversation soon, or start a new one.",
    TooFull = "This request has about {0} tokens, but {1} accepts at most {2}, so it may be refused. Summarize the conversation, drop some context, or choose a model with a larger window.",

    // The status line and its tooltip.
    NotCounted = "not counted",
    Tokens = "{0} tokens",
    ModelLabel = "Model",
    ThinkingLabel = "Thinking",
    ThinkingByModel = "as much as the model decides",
    ThinkingOff = "off",
    AlsoLabel = "Also",
    UtilityRequests = "{0} for titles, commit messages and the like",
    SummaryRequests = "{0} for summaries",
    SubAgentRequests = "{0} by sub-agents",
    InlineRequests = "{0} in editors and terminals",
    ContextLabel = "Context",
    FreedLabel = "Freed",
    LastAnswerLabel = "Last answer",
    CostLabel = "Cost",
    SpeedLabel = "Speed",
    ConversationLabel = "Conversation",
    RunningLabel = "Running",
    TokensOf = "{0} of {1} tokens",
    AboutTokens = "about {0} tokens",
    AboutTokensOf = "about {0} of {1} tokens",
    EstimatedCount = "estimated",
    CountedByServer = "counted by the server",
    TokensIn = "{0} in",
    TokensInCached = "{0} in ({1} cached)",
    TokensOut = "{0} out",
    TokensOutReasoning = "{0} out ({1} reasoning)",
    FirstPartAfter = "first part after {0} s",
    TokensPerSecond = "{0} tokens/s",
    OneRequest = "1 request",
    Requests = "{0} requests",
    AndMore = "{0} and more",
    OneSubAgent = "1 sub-agent",
    SubAgents = "{0} sub-agents",

    // Problems with the base URL.
    AddressCharacters = "The base URL has white space, a backslash or control characters in it. It should look like {0}",
    AddressScheme = "The base URL does not start with https://. It should look like {0}",
    AddressQuery = "The base URL must have no query and no fragment. It should look like {0}",
    AddressCredentials = "The base URL must not contain a user name or password. It should look like {0}",
    AddressPort = "The base URL has no proper port. It should look like {0}",
    AddressNotHttps = "The base URL must be https, except on this machine (127.0.0.1, localhost) and in private networks. It should look like {0}",
    AddressUnencrypted = "Nothing is encrypted on the way to {0}: everybody in between can read the key and the chats. Confirm that address before you use it, or use https.",
    AddressSegments = "The base URL must not have a path with empty segments or with dots for a segment. It should look like {0}",
    AddressEncoding = "The base URL has characters in its path that have to be percent-encoded. It should look like {0}",
    AddressIpv6 = "The base URL has no proper IPv6 address. It should look like {0}",
    AddressInternational = "The base URL has an international host name, which is not supported; use one in ASCII. It should look like {0}",
    AddressHost = "The base URL has no proper host name. It should look like {0}",
    AddressNumber = "The base URL has a host that ends in a number; write an address as four, such as 127.0.0.1. It should look like {0}",

    // What the user has to agree to before an address is used.
    ConfirmUnencrypted = "Nothing is encrypted on the way to {0}: everybody in between can read the key and the chats.",
    ConfirmUnencryptedWithoutKey = "Nothing is encrypted on the way to {0}: everybody in between can read the chats.",
    ConfirmWithoutKey = "Chats will be sent to {0} without a key.",
    KeyNeeded = "{0} needs a key.",

    // Keys in the environment.
    KeyWithheld = "{0} is not sent to {1}, only to {2}. To send a key, set {3}.",

    // Problems with other settings.
    PatternEmpty = "The pattern `{0}` names no model; write an id such as `openai/gpt-5`, with `*` for anything: `anthropic/*`",
    PatternTooLong = "The pattern `{0}` is longer than any id; write an id such as `openai/gpt-5`, with `*` for anything: `anthropic/*`",
    PatternWhiteSpace = "The pattern `{0}` has white space in it; write an id such as `openai/gpt-5`, with `*` for anything: `anthropic/*`, one id or pattern for each entry",
    PatternCharacters = "The pattern `{0}` has characters that no id has; write an id such as `openai/gpt-5`, with `*` for anything: `anthropic/*`",
    FavouriteUnknown = "`{0}` in favourites matches no model that is shown",
    DefaultUnknown = "`{0}` in default matches no model that is shown",
    OverrideNegative = "The pattern `{0}` in overrides must not begin with `!`; a more specific pattern makes an exception",
    OverrideUnknown = "`{0}` in overrides is not a field; there are {1}",
    OverrideWrongType = "`{0}` in overrides must look like `{1}`",
    OverrideOneOf = "`{0}` in overrides must be one of {1}",
    OverrideUnused = "`{0}` in overrides matches no model that is known",
    EverythingHidden = "The rules hide every model, so none is hidden; take one back with `!creator/model`",

    // The list of models.
    ListTooLong = "The list is too long. Entries left out at its end: {0}",
    ListUnreadable = "Entries left out because they have no usable id or cannot be read: {0}",
    ListedTwice = "{0} is listed twice",
    MoreListedTwice = "Further models that are listed twice: {0}",
    KeptListTooLarge = "The kept list of models is too large; it will be fetched again",
    KeptListDamaged = "The kept list of models is damaged; it will be fetched again",
    KeptListOfAnotherVersion = "The kept list of models is of another version; it will be fetched again",
    NoListHere = "There is no list of models at {0}, and none at {1}. Check the base URL, or name the models in the settings.",
    NotAList = "The answer (HTTP {0}) is not a list of models; check the base URL.",
    NoModelChats = "The server lists no model that chats.",
    ModelsStay = "The models known before stay.",
    ProvidersUnknown = "The server does not tell who serves {0}",

    // A model's tooltip.
    TokenLimits = "{0} tokens: {1} in, {2} out",
    LimitsAssumed = "assumed, because the server does not say",
    LimitsOfProviders = "according to its providers",
    LimitsLearned = "learned from an error",
    LimitsSet = "according to your settings",
    AbilityTools = "tools",
    AbilityImages = "images",
    AbilityFiles = "files",
    AbilityThinking = "thinking",
    AbilityWebSearch = "web search",
    AbilityDrawing = "image generation",
    AbilityCaching = "prompt cache",
    ServedBy = "Served by {0}",
    ServedByWindows = "Served by {0} ({1} to {2} tokens)",
    Deprecated = "Deprecated: {0}",
    SwitchedOffOn = "The provider switches this model off on {0}.",
    SwitchedOffSince = "The provider switched this model off on {0}.",
    RetainsNothing = "Can be used without data retention",
    MayRetain = "Providers may retain data",

    // Prices.
    PriceFree = "Free",
    PricePerMillion = "{0} per M tokens",
    PriceCached = "cached {0}",
    PriceAbove = "above {0}: {1}",

    // The memory file.
    MemoryDamaged = "The file with token counts and usage was damaged. It has been set aside, and counting starts again from zero.",
    MemoryNewer = "A newer version of Sluice keeps token counts and usage, and this one leaves them alone. Update it to use them.",

    // Why there is no connection.
    NoSuchServer = "No server has that name, or the DNS server can't be reached.",
    PortClosed = "The server can be reached, but nothing is listening on that port.",
    CertificateNotTrusted = "The server's certificate is not trusted. Behind a company proxy, its certificate must be installed in the operating system.",
    ProxyRefuses = "The proxy refuses the connection. See the setting `http.proxy`.",
    NothingResponds = "Nothing responds at that address; a firewall may be blocking it.",
    NetworkUnreachable = "That network is unreachable from this machine.",

    // What a test of the connection says about the key.
    KeyAccepted = "Accepted.",
    KeyAcceptedCredit = "Accepted. Credit left: ${0}",
    KeyNotChecked = "This server can't check a key (HTTP {0}); the next step will show whether it works.",

    // A test of a server: what it sends, what it checks, and what it found.
    ProbeAnnounced = "The test sends at most {0} short requests, whose answers have at most {1} tokens together.",
    ProbeAddress = "Address",
    ProbeEncryption = "Encryption",
    ProbeProxy = "Proxy",
    ProbeModels = "Models",
    ProbeKey = "Key",
    ProbeAnswer = "Answer",
    ProbeStreaming = "Streaming",
    ProbeUsage = "Token counts",
    ProbeCut = "Output limit",
    ProbeTools = "Tool calls",
    ProbeParallel = "Parallel calls",
    ProbeToolResults = "Tool results",
    ProbeToolImages = "Images in results",
    ProbeReasoning = "Thinking",
    ProbeSummaries = "Summaries",
    ProbePlain = "Plain thinking",
    ProbeEncrypted = "Sealed thinking",
    ProbeBack = "Thinking returned",
    ProbePhase = "Phases",
    ProbeCaching = "Prompt cache",
    ProbeLimits = "Context window",
    ProbeCancellation = "Cancelling",
    ProbeErrors = "Errors",
    FoundEncryption = "The connection is encrypted, and the certificate is trusted.",
    FoundLocal = "Nothing is encrypted, but nothing leaves this machine.",
    FoundNoEncryption = "Nothing is encrypted: everybody on the way can read the key and the chats.",
    FoundProxy = "Requests go through {0}.",
    FoundNoProxy = "No proxy is set.",
    FoundNoProxyHere = "On this machine, no proxy is used.",
    FoundModels = "{0} models can chat.",
    FoundOneModel = "1 model can chat.",
    FoundUnlisted = "{0} is not one of them.",
    FoundNoList = "The server has no list of models.",
    NameAModel = "Name a model to go on.",
    FoundElsewhere = "There is no Open Responses endpoint at this address, but there is one at {0}. Use that as the base URL.",
    FoundNoKey = "No key is sent, and the list needs none.",
    FoundKeyForList = "The list needs a key and accepts this one.",
    FoundAnswer = "{0} answered in {1} s.",
    FoundStreaming = "An answer arrived in {0} pieces.",
    FoundNoStreaming = "An answer arrived in one piece.",
    FoundUsage = "{0} tokens in, {1} out.",
    FoundNoUsage = "The server reports no token counts.",
    FoundCut = "The server says when it cuts an answer off.",
    FoundNoCut = "The server cuts an answer off after {0} tokens and calls it complete.",
    FoundTooShort = "The answer was too short to tell.",
    FoundCall = "The model called the tool.",
    FoundCallIfRequired = "The model called the tool only because it had to.",
    FoundNoCall = "The model called no tool.",
    FoundCalls = "One answer had {0} calls.",
    FoundOneCall = "One answer had one call, although two were asked for.",
    FoundAccepted = "The server accepts them.",
    FoundToolText = "The server accepts text only.",
    FoundThinkingAccepted = "The server accepts it.",
    FoundSummaries = "The server sends them.",
    FoundNoToolImages = "The server refuses them: {0}",
    FoundThinking = "The server sends it.",
    FoundNoThinking = "The server sent none.",
    FoundThinkingRefused = "The server refuses to be asked for it.",
    FoundNothingToSendBack = "There was none to send back.",
    FoundReasoningRefused = "The server refuses its own thinking.",
    FoundPhase = "The server marks commentary and final answers.",
    FoundNoPhase = "The server marks none.",
    FoundCache = "The server reports cached tokens; the most was {0}.",
    FoundNoCache = "The server reports no cached tokens.",
    FoundLimits = "{0} tokens, according to the list of models.",
    FoundLearned = "{0} tokens, according to an error.",
    FoundAssumed = "Unknown; {0} tokens are assumed.",
    FoundNoLimits = "Unknown, because the model is not in the list.",
    FoundCancelled = "An answer was cancelled, and the server went on.",
    FoundDeadAfterCancel = "After an answer was cancelled, the server did not respond.",
    FoundErrors = "An unknown model is refused with a clear error (HTTP {0}).",
    FoundVagueErrors = "An unknown model gives an error that does not say so (HTTP {0}).",
    FoundAnyModel = "The server answers whatever the model's name is.",

    // What Sluice does differently because of a test.
    DiffersRefused = "Requests to this model leave out {0}, which the server refuses.",
    DiffersEffort = "Instead of the effort `{0}`, which the server refuses, `{1}` is sent.",
    DiffersOutputLimit = "Answers are limited to {0} tokens, which is the server's limit.",
    DiffersToolText = "Images in the results of tools are left out.",
    DiffersNoEncryption = "Nothing is encrypted. Use this address only in a network that you trust.",
    DiffersNoList = "Models have to be named by hand.",
    DiffersNoStreaming = "Answers appear all at once.",
    DiffersNoUsage = "Sluice counts tokens itself, so the numbers are estimates.",
    DiffersNoCut = "Sluice cannot tell an answer that was cut off from a short one.",
    DiffersNoTools = "Agents need tools, so use this model to ask questions.",
    DiffersNoToolImages = "Tools that return images fail with this model.",
    DiffersReasoningRefused = "Thinking is not sent back, so the model starts to think anew after each tool call.",
    DiffersAssumed = "The context window is assumed until an error of the server reveals it.",
    DiffersErrors = "A wrong model name looks like a problem of the server.",
    DiffersAnyModel = "A wrong model name is not noticed.",
    DiffersSealed = "Sealed thinking is sent back, to this model on this server only.",
    DiffersPlain = "Plain thinking is sent back, to this model on this server only.",
    DiffersLearned = "The context window was learned from an error and is remembered for 30 days.",

    // Sign-in with the Vercel CLI.
    VercelNoFiles = "The Vercel CLI is not available in a browser window. Add an API key instead: Chat, Manage Models, Sluice.",
    VercelNoCli = "The Vercel CLI is not installed on this machine, or was never used. Install it, run `vercel login` in a terminal, then try again.",
    VercelNotLoggedIn = "The Vercel CLI isn't logged in. Run `vercel login` in a terminal, then try again.",
    VercelLoginExpired = "The Vercel CLI's login has expired. Run `vercel whoami` in a terminal, which renews it, then try again.",
    VercelLoginRefused = "Vercel no longer accepts the Vercel CLI's login. Run `vercel login` in a terminal, then try again.",
    VercelForbidden = "Your Vercel account isn't allowed to create tokens for this team or project. Choose another one, or ask the team's owner.",
    VercelNoProject = "There is no such project in this team. Create one on vercel.com (an empty one is enough) or choose another team.",
    VercelUnreachable = "Vercel cannot be reached. Check the network and the proxy settings, then try again.",
    VercelUnexpected = "Vercel sent an unexpected response. Try again in a minute.",

    // Settings that don't work as written.
    SettingType = "The setting sluice.{0} has a value of the wrong type, so it is ignored.",
    HeaderAddress = "Headers are set for {0}, an address that Sluice can't send anything to. Write it like {1}.",
    HeaderNameInvalid = "The extra header {0} is not sent: its name has characters that header names can't have.",
    HeaderReserved = "The extra header {0} is not sent: Sluice sets it.",
    HeaderSetTwice = "The extra header {0} is not sent: it is set twice.",
    HeaderEmpty = "The extra header {0} is not sent: its value is empty. If it names an environment variable, set that variable.",
    HeaderValueInvalid = "The extra header {0} is not sent: its value is too long or has characters other than printable ASCII.",
    BodyFieldReserved = "The extra body field {0} is not sent: Sluice sets it.",
}

#[cfg(test)]
mod tests {
    use super::{Message, MessageCode, join_messages};

    #[test]
    fn arguments_replace_their_numbers() {
        let message = |args: &[&str]| {
            let args = args.iter().map(|argument| (*argument).to_owned()).collect();
            Message { code: MessageCode::TokensOf, args }.to_string()
        };
        assert_eq!(message(&["1", "2"]), "1 of 2 tokens");
        assert_eq!(message(&["{1}", "{0}"]), "{1} of {0} tokens");
        assert_eq!(message(&[]), " of  tokens");
    }

    #[test]
    fn sentences_are_joined_by_spaces() {
        let messages = [Message::new(MessageCode::NoConnection, [&"a.example"]), MessageCode::CheckNetwork.into()];
        assert_eq!(
            join_messages(&messages, " "),
            "No connection to a.example. Check the network, the proxy settings and the base URL."
        );
    }

    #[test]
    fn placeholders_are_numbered_from_zero_without_gaps() {
        for code in MessageCode::ALL {
            let english = code.english();
            let numbers = (0..).take_while(|number| english.contains(&format!("{{{number}}}")));
            let places: usize = numbers.map(|number| english.matches(&format!("{{{number}}}")).count()).sum();
            assert_eq!(places, english.matches('{').count(), "{english}");
        }
    }
}
