//! Parameters that a request can do without, if a server refuses them by name.

use serde::{Deserialize, Serialize};

use crate::boundary::{Failure, FailureKind};
use crate::failure::output_limit;
use crate::wire::{Content, CreateResponse, InputItem, ItemOutput};

/// The number of tools that almost every provider accepts. Many accept more.
const USUAL_TOOLS: u32 = 128;

/// A parameter of a request that the answer doesn't depend on, or a value that can be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
#[non_exhaustive]
pub enum Parameter {
    /// `caching`, the gateway's automatic cache markers.
    Caching,
    /// One value of `reasoning.effort`, which is replaced by another one.
    Effort(Effort, Option<Effort>),
    /// `detail` of images.
    ImageDetail,
    /// `include`, which asks for encrypted reasoning.
    Include,
    /// `max_output_tokens`.
    MaxOutputTokens,
    /// A `max_output_tokens` above this number, which is reduced to it.
    MostOutputTokens(u32),
    /// The tools in `tools` after the first ones, of which there are this many.
    MostTools(u32),
    /// `prompt_cache_key`, which keeps a conversation on one cache.
    PromptCacheKey,
    /// `providerOptions`, which has the gateway's routing.
    ProviderOptions,
    /// `reasoning.effort`.
    ReasoningEffort,
    /// The reasoning of earlier answers, in `input`.
    ReasoningItems,
    /// `reasoning.summary`.
    ReasoningSummary,
    /// `store`.
    Store,
    /// Outputs of tools that are lists of texts and images. They are sent as text.
    ToolOutputParts,
}

/// A level of reasoning effort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
#[expect(missing_docs, reason = "these are the protocol's words")]
pub enum Effort {
    None,
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}

impl Effort {
    const ALL: [Self; 7] = [Self::None, Self::Minimal, Self::Low, Self::Medium, Self::High, Self::Xhigh, Self::Max];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }

    fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effort| effort.word() == word)
    }

    /// Returns the effort nearest to this one among those that a message mentions, which are the ones that the server
    /// accepts.
    fn nearest_in(self, message: &str) -> Option<Self> {
        let mentioned = |effort: &Self| *effort != self && is_quoted(message, effort.word());
        Self::ALL.into_iter().filter(mentioned).min_by_key(|effort| (*effort as i8 - self as i8).abs())
    }
}

impl Parameter {
    /// Those that can be left out as a whole, in the order of their names.
    const ALL: [Self; 11] = [
        Self::Caching,
        Self::ImageDetail,
        Self::Include,
        Self::MaxOutputTokens,
        Self::PromptCacheKey,
        Self::ProviderOptions,
        Self::ReasoningEffort,
        Self::ReasoningItems,
        Self::ReasoningSummary,
        Self::Store,
        Self::ToolOutputParts,
    ];

    /// Fields that make no sense without [`Caching`](Self::Caching).
    pub(super) const WITH_CACHING: &[&str] = &["cache_anchor_items", "cache_ttl"];

    /// The path in the request body, as servers name it.
    pub fn path(self) -> &'static str {
        match self {
            Self::Caching => "caching",
            Self::ImageDetail => "detail",
            Self::Include => "include",
            Self::MaxOutputTokens | Self::MostOutputTokens(_) => "max_output_tokens",
            Self::MostTools(_) => "tools",
            Self::PromptCacheKey => "prompt_cache_key",
            Self::ProviderOptions => "providerOptions",
            Self::ReasoningEffort | Self::Effort(..) => "reasoning.effort",
            Self::ReasoningItems => "input.reasoning",
            Self::ReasoningSummary => "reasoning.summary",
            Self::Store => "store",
            Self::ToolOutputParts => "input.output",
        }
    }

    /// Returns the number of tools that it leaves in a request.
    pub(crate) fn most_tools(self) -> Option<u32> {
        match self {
            Self::MostTools(most) => Some(most),
            _ => None,
        }
    }

    /// Other names of the same parameter, which gateways use because their providers do.
    fn aliases(self) -> &'static [&'static str] {
        match self {
            Self::MaxOutputTokens => &["max_tokens", "max_completion_tokens", "max_new_tokens"],
            Self::ReasoningEffort => &["reasoning_effort"],
            Self::Caching => Self::WITH_CACHING,
            _ => &[],
        }
    }

    /// Returns the parameter with this path.
    pub(crate) fn at(path: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|parameter| parameter.path() == path || parameter.aliases().contains(&path))
    }

    /// Returns the effort that is sent to a server that refused these parameters.
    pub(crate) fn effort_without(effort: Option<String>, refused: &[Self]) -> Option<String> {
        refused.iter().fold(effort, |effort, parameter| match parameter {
            Self::ReasoningEffort => None,
            Self::Effort(sent, instead) if effort.as_deref() == Some(sent.word()) => {
                instead.map(|instead| instead.word().to_owned())
            }
            _ => effort,
        })
    }

    /// Returns the parameters that a request has.
    pub(super) fn in_body(body: &CreateResponse) -> Vec<Self> {
        let parts = |item: &InputItem| -> Vec<Content> {
            match item {
                InputItem::Message { content, .. }
                | InputItem::FunctionCallOutput { output: ItemOutput::Parts(content), .. } => content.clone(),
                _ => Vec::new(),
            }
        };
        let is_image = |content: &Content| matches!(content, Content::InputImage { .. });
        let effort = body.reasoning.as_ref().and_then(|reasoning| reasoning.effort.as_deref());
        let has = |parameter: &Self| match parameter {
            Self::Caching => body.caching.is_some(),
            Self::ImageDetail => body.input.iter().any(|item| parts(item).iter().any(is_image)),
            Self::Include => !body.include.is_empty(),
            Self::MaxOutputTokens => body.max_output_tokens.is_some(),
            Self::PromptCacheKey => body.prompt_cache_key.is_some(),
            Self::ProviderOptions => !body.provider_options.is_empty(),
            Self::ReasoningEffort => effort.is_some(),
            Self::ReasoningItems => body.input.iter().any(|item| matches!(item, InputItem::Reasoning { .. })),
            Self::ReasoningSummary => body.reasoning.as_ref().is_some_and(|reasoning| reasoning.summary.is_some()),
            Self::ToolOutputParts => {
                let is_list = |item: &InputItem| {
                    matches!(item, InputItem::FunctionCallOutput { output: ItemOutput::Parts(_), .. })
                };
                body.input.iter().any(is_list)
            }
            Self::Store => true,
            Self::Effort(..) | Self::MostOutputTokens(_) | Self::MostTools(_) => false,
        };
        let value = effort.and_then(Effort::of).map(|effort| Self::Effort(effort, None));
        let tools = u32::try_from(body.tools.len()).ok().filter(|count| *count > 1).map(Self::MostTools);
        Self::ALL.into_iter().filter(has).chain(value).chain(tools).collect()
    }

    /// Returns what to change in a request that the server refused, if the server names one of `candidates` that the
    /// request still has.
    pub(crate) fn refused(failure: &Failure, candidates: &[Self], without: &[Self]) -> Option<Self> {
        let message = failure.message.as_str();
        let is_left = |parameter: Self| candidates.contains(&parameter) && !without.contains(&parameter);
        if is_left(Self::ReasoningItems) && is_about_reasoning(failure) {
            return Some(Self::ReasoningItems);
        }
        // OpenAI's words, which gateways pass on without the name of the parameter.
        if is_left(Self::ReasoningSummary) && message.contains("generate reasoning summaries") {
            return Some(Self::ReasoningSummary);
        }
        // The images of tools can be left out. Those of the user can't.
        if is_left(Self::ToolOutputParts) && is_about_images(failure) {
            return Some(Self::ToolOutputParts);
        }
        // A validator that can't say which of many items it doesn't understand. These two are the unusual ones.
        if is_about_input(failure) {
            let unusual = [Self::ToolOutputParts, Self::ReasoningItems].into_iter().find(|one| is_left(*one));
            return unusual;
        }
        let is_about_output = is_left(Self::MaxOutputTokens) && output_is_too_long(failure);
        if failure.kind != FailureKind::BadRequest && !is_about_output {
            return None;
        }
        if let Some(sent) = candidates.iter().chain(without).filter_map(|parameter| parameter.most_tools()).min()
            && let Some(most) = tool_limit(message, sent)
        {
            return Some(Self::MostTools(most));
        }
        let names = |parameter: &Self| {
            let path = parameter.path();
            let parent = path.split_once('.').map(|(parent, _)| parent);
            failure.parameter == Some(*parameter)
                || is_named(message, path)
                || parameter.aliases().iter().any(|alias| is_named(message, alias))
                || parent.is_some_and(|parent| is_named(message, parent))
                || (*parameter == Self::ReasoningEffort && is_about_thinking(message))
        };
        let named = if is_about_output {
            Self::MaxOutputTokens
        } else {
            let is_value = |parameter: &Self| matches!(parameter, Self::Effort(..) | Self::MostTools(_));
            let whole = |parameter: &Self| !is_value(parameter) && is_left(*parameter);
            candidates.iter().copied().filter(whole).find(names)?
        };
        // A value that isn't accepted is replaced at first. If that is refused too, the parameter is left out.
        let replaced = |path: &str| without.iter().any(|changed| changed.path() == path);
        Some(match named {
            Self::ReasoningEffort if !replaced(named.path()) => {
                let sent = candidates.iter().find_map(|candidate| match candidate {
                    Self::Effort(sent, _) => Some(*sent),
                    _ => None,
                });
                match sent.filter(|sent| is_quoted(message, sent.word())) {
                    Some(sent) => Self::Effort(sent, sent.nearest_in(message)),
                    None => named,
                }
            }
            Self::MaxOutputTokens if !replaced(named.path()) => {
                output_limit(message).map_or(named, Self::MostOutputTokens)
            }
            _ => named,
        })
    }
}

/// Returns whether a server refuses the input as a whole because it expects another type somewhere in it.
fn is_about_input(failure: &Failure) -> bool {
    const PHRASES: [&str; 4] =
        ["did not match any variant", "input: Invalid input", "is not an array", "Input should be a valid string"];
    failure.kind == FailureKind::BadRequest && PHRASES.iter().any(|phrase| failure.message.contains(phrase))
}

/// Returns whether the conversation would fit if less output was asked for: the window has to contain both.
fn output_is_too_long(failure: &Failure) -> bool {
    const PHRASES: [&str; 7] = [
        "output tokens",
        "in the completion",
        "completion tokens",
        "max_output_tokens",
        "max_tokens",
        "max_completion_tokens",
        "max_new_tokens",
    ];
    let is_refusal = matches!(failure.kind, FailureKind::BadRequest | FailureKind::ContextOverflow);
    is_refusal && PHRASES.iter().any(|phrase| failure.message.contains(phrase))
}

/// Returns whether a server refuses the reasoning of an earlier answer. Servers don't name a parameter then.
fn is_about_reasoning(failure: &Failure) -> bool {
    const PHRASES: [&str; 8] = [
        "encrypted content",
        "encrypted_content",
        "`signature` in `thinking`",
        "of type 'reasoning' was provided without its required following item",
        "Item with id 'rs_",
        "reasoning of item",
        "thinking_blocks",
        "item['content'] is not an array",
    ];
    let is_refusal = matches!(failure.kind, FailureKind::BadRequest | FailureKind::ModelNotFound);
    let message = failure.message.to_ascii_lowercase();
    let names = |phrase: &&str| message.contains(&phrase.to_ascii_lowercase());
    is_refusal && (failure.code.as_deref() == Some("invalid_encrypted_content") || PHRASES.iter().any(names))
}

/// Returns whether a server refuses images because the model can't see.
fn is_about_images(failure: &Failure) -> bool {
    const PHRASES: [&str; 3] = ["image input is not supported", "is not a multimodal model", "does not support image"];
    failure.kind == FailureKind::BadRequest && PHRASES.iter().any(|phrase| failure.message.contains(phrase))
}

/// Returns whether a message is about the effort without naming the parameter, as those of Ollama are.
fn is_about_thinking(message: &str) -> bool {
    ["does not support thinking", "invalid reasoning value", "think value "].iter().any(|words| message.contains(words))
}

/// Returns how many tools a server accepts that refuses this many, which servers say in many ways. A server that names no
/// number gets the usual one.
fn tool_limit(message: &str, sent: u32) -> Option<u32> {
    const LIMITS: [&str; 9] =
        ["too many", "too long", "maximum", "at most", "more than", "up to", "limit", "exceed", "allowed"];
    let message = message.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    // The name or the description of a single tool can be too long, too.
    let is_about_one = says(&["tools[", "tools.", "character", "string"]);
    if !says(&["tools", "functions", "function declarations"]) || !says(&LIMITS) || is_about_one {
        return None;
    }
    // A number in a name isn't a limit, and neither is the number that was sent.
    let numbers = |text: &str| -> Vec<u32> {
        let words = text.split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '(' | ')' | '=' | '/'));
        let number = |word: &str| word.trim_matches(['.', '\'', '"', '`', '<', '>', '≤']).parse().ok();
        words.filter_map(number).filter(|number| (1..sent).contains(number)).collect()
    };
    let after = |word: &&str| numbers(message.split_once(word)?.1).first().copied();
    let usual = Some(USUAL_TOOLS).filter(|usual| *usual < sent);
    // A word about the limit is followed by the number, more often than not.
    LIMITS.iter().skip(2).find_map(after).or_else(|| numbers(&message).into_iter().max()).or(usual)
}

/// Returns whether a message has a word in quotes.
fn is_quoted(message: &str, word: &str) -> bool {
    ['\'', '"', '`'].iter().any(|quote| message.contains(&format!("{quote}{word}{quote}")))
}

/// Returns whether a message names a parameter. Names that are also English words must be in quotes.
fn is_named(message: &str, path: &str) -> bool {
    let is_word = path.bytes().all(|byte| byte.is_ascii_lowercase());
    message.match_indices(path).any(|(at, _)| {
        let before = message.get(..at).and_then(|text| text.chars().next_back());
        let after = message.get(at + path.len()..).and_then(|text| text.chars().next());
        let is_quoted = matches!((before, after), (Some('\'' | '"' | '`'), Some('\'' | '"' | '`')));
        let goes_on = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
        is_quoted || !(is_word || goes_on(before) || goes_on(after))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::HttpResponse;

    fn check(message: &str, candidates: &[Parameter], without: &[Parameter], expected: Option<Parameter>) {
        let body = serde_json::json!({"error": {"message": message}}).to_string();
        let response = HttpResponse { status: 400, headers: Vec::new(), body };
        let failure = Failure::from_http(&response, 0);
        assert_eq!(Parameter::refused(&failure, candidates, without), expected, "{message}");
    }

    #[test]
    fn the_number_of_tools_that_a_server_accepts_is_recognized() {
        for (message, expected) in [
            (
                "Invalid 'tools': array too long. Expected an array with maximum length 128, but got 200 instead.",
                Some(128),
            ),
            ("tools: A maximum of 64 tools is supported", Some(64)),
            ("Too many tools provided: 200. At most 100 are allowed.", Some(100)),
            ("The request has 200 function declarations, which exceeds the limit of 32.", Some(32)),
            ("20 tools is the maximum; got 200", Some(20)),
            ("tools: must have <=50 items, the limit is exceeded", Some(50)),
            ("400: gpt-4 model: number of tools (200) exceeds maximum: 10", Some(10)),
            ("Too many tools", Some(128)),
            ("Invalid schema for function 'look': schema must be an object", None),
            ("tools[3].name: invalid characters", None),
            ("tools[3].name: too long", None),
            ("Invalid 'tools[0].name': string too long. Expected a string with maximum length 64.", None),
            ("tools.4.custom.description: at most 100 characters", None),
            ("This model's maximum context length is 128000 tokens.", None),
        ] {
            assert_eq!(tool_limit(message, 200), expected, "{message}");
        }
        // A limit that is kept isn't the reason.
        assert_eq!(tool_limit("tools: A maximum of 64 tools is supported", 64), None);
        let (message, candidates) = ("tools: A maximum of 64 tools is supported", [Parameter::MostTools(200)]);
        check(message, &candidates, &[Parameter::MostTools(128)], Some(Parameter::MostTools(64)));
    }

    #[test]
    fn an_effort_is_replaced_by_the_nearest_one_that_is_accepted() {
        use Effort::{High, Low, Max, Minimal, None as NoEffort};
        let all = Parameter::ReasoningEffort;
        for (message, sent, expected) in [
            (
                "reasoning.effort: Invalid enum value. Expected 'low' | 'medium' | 'high', received 'minimal'",
                Minimal,
                Parameter::Effort(Minimal, Some(Low)),
            ),
            (
                "Unsupported value: 'max' is not supported with the 'm' model. Supported values are: 'none', 'low', \
                'medium', and 'high'. (reasoning.effort)",
                Max,
                Parameter::Effort(Max, Some(High)),
            ),
            ("reasoning_effort 'none' is not supported", NoEffort, Parameter::Effort(NoEffort, None)),
            (
                r#"invalid reasoning value: "minimal" (must be "high", "medium", "low", "max", or "none")"#,
                Minimal,
                Parameter::Effort(Minimal, Some(NoEffort)),
            ),
            (r#""llama3.2:1b" does not support thinking"#, Low, all),
            ("think value \"low\" is not supported for this model", Low, Parameter::Effort(Low, None)),
            ("Unsupported parameter: 'reasoning.effort' is not supported with this model.", Low, all),
        ] {
            check(message, &[Parameter::Effort(sent, None), all], &[], Some(expected));
        }
        let again = [Parameter::Effort(Max, Some(High))];
        check("bad 'reasoning.effort': 'max'", &[Parameter::Effort(Max, None), all], &again, Some(all));
    }

    #[test]
    fn too_much_output_is_reduced_to_what_the_message_names_or_left_out() {
        use Parameter::{MaxOutputTokens, MostOutputTokens};
        for (message, expected) in [
            (
                "max_tokens is too large: 16384. This model supports at most 4096 completion tokens, whereas you \
                provided 16384.",
                MostOutputTokens(4096),
            ),
            (
                "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 32768, but got 50000 \
                instead.",
                MostOutputTokens(32768),
            ),
            (
                "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude",
                MostOutputTokens(64000),
            ),
            (
                "max_output_tokens=16384 cannot be greater than max_model_len=2048. Please request fewer output tokens.",
                MaxOutputTokens,
            ),
            (
                "This model's maximum context length is 2048 tokens. However, you requested 2000 output tokens and your \
                prompt contains at least 100 input tokens. Please reduce the length of the input prompt.",
                MaxOutputTokens,
            ),
            (
                "This model's maximum context length is 8192 tokens. However, you requested 20000 tokens (3616 in the \
                messages, 16384 in the completion).",
                MaxOutputTokens,
            ),
        ] {
            check(message, &[MaxOutputTokens], &[], Some(expected));
        }
        let again = "max_tokens is too large: 4096. This model supports at most 1000";
        check(again, &[MaxOutputTokens], &[MostOutputTokens(4096)], Some(MaxOutputTokens));
        check("The prompt is too long: 9000 tokens > 8192 maximum", &[MaxOutputTokens], &[], None);
    }

    #[test]
    fn unusual_items_are_left_out_if_the_input_is_refused_as_a_whole() {
        use Parameter::{ReasoningItems, ToolOutputParts};
        let both = [ReasoningItems, ToolOutputParts];
        let message = "input: data did not match any variant of untagged enum ResponsesInput at line 1 column 282";
        check(message, &both, &[], Some(ToolOutputParts));
        check(message, &both, &[ToolOutputParts], Some(ReasoningItems));
        check(message, &both, &both, None);
        check("input: Invalid input", &both, &[], Some(ToolOutputParts));
        check("item['content'] is not an array", &both, &[], Some(ReasoningItems));
        check("tiny is not a multimodal model", &both, &[], Some(ToolOutputParts));
        check("tiny is not a multimodal model", &both, &[ToolOutputParts], None);
        let summary = Parameter::ReasoningSummary;
        check("Your organization must be verified to generate reasoning summaries.", &[summary], &[], Some(summary));
        check("Encrypted content is not supported. (parameter=input)", &both, &[], Some(ReasoningItems));
    }

    #[test]
    fn parameters_are_recognized_as_servers_name_them() {
        for (message, path, expected) in [
            ("Unexpected fields in the request: {'caching'}", "caching", true),
            ("caching: unknown field `caching`, expected one of `model`", "caching", true),
            ("Unsupported parameter: 'reasoning.summary' is not supported with this model.", "reasoning.summary", true),
            ("max_output_tokens=4000 cannot be greater than max_model_len=2048.", "max_output_tokens", true),
            ("Your request must include a user message.", "include", false),
            ("Unknown parameter: \"include\"", "include", true),
            ("caching is disabled for this account", "caching", false),
            ("my_max_output_tokens is wrong", "max_output_tokens", false),
        ] {
            assert_eq!(is_named(message, path), expected, "{message}");
        }
    }
}
