// Generated from crates/sluice-core/src/boundary by `UPDATE_EXPECT=1 cargo test -p sluice-core typescript`.

import type { MessageCode } from "./messages.js";

export type Part = { "type": "text", 
/**
 * The text to append.
 */
value: string, } | { "type": "thinking", 
/**
 * The text to append.
 */
value: string, 
/**
 * The block that the text belongs to.
 */
id: string, 
/**
 * What the next request must send back. Only set on one thinking part, which is the last one and empty, unless the answer
 * is returned [at its end](crate::Pace::AtEnd).
 */
replay?: ThinkingReplay, } | { "type": "toolCall", 
/**
 * The id that the result must name.
 */
callId: string, 
/**
 * The tool's name, as VS Code knows it.
 */
name: string, 
/**
 * The arguments.
 */
inputJson: string, } | { "type": "data", 
/**
 * The media type. No server can choose one of VS Code's own types.
 */
mimeType: string, 
/**
 * The bytes, in the standard alphabet with padding.
 */
base64: string, } | { "type": "citations", 
/**
 * The sources, each of them once.
 */
citations: Array<Citation>, 
/**
 * A list of links, in which nothing that a server wrote can act as markup.
 */
markdown: string, };

export type ThinkingReplay = { 
/**
 * The model that produced it. The content is useless to any other model.
 */
model?: string, 
/**
 * The origin of the server that produced it, which is the only one that gets it back.
 */
origin?: string, 
/**
 * The items of the answer, in the server's order.
 */
items: Array<ReplayItem>, };

export type ReplayItem = { "reasoning": ReasoningItem } | { "message": ReplayMessage } | { "call": string };

export type ReplayMessage = { 
/**
 * What the message is to the model: `commentary` or `final_answer`.
 */
phase?: string, 
/**
 * The length of its text in UTF-8.
 */
bytes: number, 
/**
 * A hash of its text, because a host may have changed the text.
 */
hash: number, };

export type ReasoningItem = { 
/**
 * The server's id for it.
 */
id?: string, 
/**
 * What only the server can read.
 */
encrypted_content?: string, 
/**
 * The summary, in paragraphs.
 */
summary?: Array<string>, 
/**
 * The reasoning itself.
 */
content?: Array<string>, 
/**
 * The provider's signature of it.
 */
signature?: string, };

export type Citation = { 
/**
 * The address of the web page. Documents have none.
 */
url?: string, 
/**
 * The title, as one line.
 */
title?: string, 
/**
 * The provider's id for the source.
 */
sourceId?: string, 
/**
 * The document's media type.
 */
mediaType?: string, 
/**
 * The document's name.
 */
filename?: string, };

export type Note = { 
/**
 * What the note is about.
 */
kind: NoteKind, 
/**
 * Protocol terms only: an event type, an item type, a tool's name; or the text in English.
 */
detail: string, 
/**
 * What to tell the user, sentence by sentence. Empty if the note is for logs only.
 */
text?: Array<Message>, };

export type NoteKind = "event" | "unknownEvent" | "ignoredItem" | "ignoredContent" | "malformed" | "typeMismatch" | "sequence" | "textMismatch" | "orphanArguments" | "droppedCall" | "repeatedCall" | "leftover" | "moreNotes" | "leftOut" | "repaired" | "ranElsewhere" | "takenBack" | "modelList" | "setting";

export type Outcome = { 
/**
 * How the answer ended.
 */
status: Status, 
/**
 * Why an answer is incomplete, in the protocol's terms, or what cut a truncated answer off.
 */
reason: string | null, 
/**
 * Why it failed or was cut off.
 */
error: Failure | null, 
/**
 * Why there is nothing to show, if there is no text, no tool call and no image.
 */
empty: Empty | null, 
/**
 * The server's id for the response.
 */
responseId: string | null, 
/**
 * The model that answered, which may be another than the one that was asked.
 */
model: string | null, 
/**
 * What the server counted. `None` if it reported nothing; never zero instead.
 */
usage: Usage | null, 
/**
 * What the gateway reported about its own part.
 */
gateway: Gateway | null, 
/**
 * Whether the request can be repeated without repeating text or running a tool twice.
 */
retrySafe: boolean, };

export type Status = "completed" | "incomplete" | "failed" | "truncated" | "cancelled";

export type Empty = "thinkingOnly" | "filtered" | "length" | "nothing";

export type Failure = { 
/**
 * What kind of failure it is.
 */
kind: FailureKind, 
/**
 * What happened, in English: one short line without markup and without secrets.
 */
message: string, 
/**
 * The server's own error code or error type.
 */
code: string | null, 
/**
 * The tool whose call could not be used.
 */
tool: string | null, 
/**
 * The suggested action, in English.
 */
next: string, 
/**
 * Everything to tell the user, sentence by sentence: what happened, when to come back, what to do.
 */
text: Array<Message>, 
/**
 * The HTTP status, if there was a response.
 */
status: number | null, 
/**
 * The server's id for the request, to quote in a bug report.
 */
requestId: string | null, 
/**
 * The gateway's id for the generation, to look it up in its dashboard.
 */
generationId: string | null, 
/**
 * The numbers in an error about a conversation that is too long.
 */
overflow: Overflow | null, 
/**
 * Whether the same request may succeed a moment later.
 */
mayRetry: boolean, 
/**
 * How long the server asks to wait, in milliseconds.
 */
retryAfterMs: number | null, };

export type FailureKind = "signIn" | "forbidden" | "noCredit" | "modelNotFound" | "contextOverflow" | "badRequest" | "rateLimited" | "serverDown" | "notAStream" | "network" | "server" | "toolCall" | "tooLarge";

export type LoggedOutcome = { 
/**
 * How the answer ended.
 */
status: Status, 
/**
 * See [`Outcome::reason`].
 */
reason: string | null, 
/**
 * Why it failed.
 */
error: LoggedFailure | null, 
/**
 * Why there was nothing to show.
 */
empty: Empty | null, 
/**
 * What the server counted.
 */
usage: Usage | null, };

export type LoggedFailure = { 
/**
 * What kind of failure it was.
 */
kind: FailureKind, 
/**
 * The server's own error code.
 */
code: string | null, 
/**
 * The HTTP status, if there was a response.
 */
status: number | null, 
/**
 * The server's id for the request.
 */
requestId: string | null, };

export type Overflow = { 
/**
 * How many tokens the request had.
 */
askedTokens: number | null, 
/**
 * How many the model accepts.
 */
limitTokens: number | null, };

export type Usage = { 
/**
 * The tokens of the request, cached ones included.
 */
input_tokens: number | null, 
/**
 * The tokens of the answer, reasoning included.
 */
output_tokens: number | null, 
/**
 * The sum of both, as the server reports it.
 */
total_tokens: number | null, 
/**
 * How much of the input was cached, for example.
 */
input_tokens_details: TokenDetails | null, 
/**
 * How much of the output was reasoning, for example.
 */
output_tokens_details: TokenDetails | null, };

export type TokenDetails = { [name: string]: unknown };

export type Gateway = { 
/**
 * The id under which the gateway lists the request.
 */
generationId: string | null, 
/**
 * US dollars as the gateway wrote them, as a decimal string or a number.
 */
cost: string | null, 
/**
 * The provider that gave the final answer.
 */
provider: string | null, 
/**
 * The whole object, including routing attempts and the providers' own fields.
 */
metadata: unknown, };

export type ChatRequest = { 
/**
 * The id of the model, as the server lists it.
 */
model: string, 
/**
 * The whole conversation, the oldest message first.
 */
messages: Array<ChatMessage>, 
/**
 * The tools that the model may call.
 */
tools?: Array<ToolDefinition>, 
/**
 * Whether the model may, must or must not call a tool.
 */
toolMode?: ToolMode, 
/**
 * The one tool that must be called, if `tool_mode` is `required`.
 */
requiredTool?: string, 
/**
 * Everything else that can be chosen for a request.
 */
options?: ChatOptions, };

export type ChatMessage = { 
/**
 * Who wrote the message.
 */
role: Role, 
/**
 * What the message consists of, in order.
 */
content: Array<ChatPart>, };

export type Role = "user" | "assistant" | "system";

export type ChatPart = { "type": "text", 
/**
 * The text.
 */
value: string, } | { "type": "thinking", 
/**
 * What the server needs back. Without it, nothing is sent.
 */
replay?: ThinkingReplay | string, } | { "type": "toolCall", 
/**
 * The id that connects the call with its result.
 */
callId: string, 
/**
 * The tool's name, as VS Code knows it.
 */
name: string, 
/**
 * The arguments, as the text of a JSON object.
 */
inputJson: string, } | { "type": "toolResult", 
/**
 * The id of the call that this answers.
 */
callId: string, 
/**
 * The result, which is text or images.
 */
content: Array<ChatPart>, 
/**
 * Whether the tool failed. The model sees that.
 */
isError?: boolean, } | { "type": "data", 
/**
 * The media type, which decides whether the data is sent and how.
 */
mimeType: string, 
/**
 * The bytes, in the standard alphabet with padding.
 */
base64: string, };

export type ToolDefinition = { 
/**
 * VS Code's name for the tool. Servers get a name that all providers accept.
 */
name: string, 
/**
 * What the tool does and when to use it, for the model.
 */
description?: string, 
/**
 * A JSON schema. Tools without arguments have none.
 */
inputSchema: unknown, };

export type ToolMode = "auto" | "required" | "none";

export type ChatOptions = { 
/**
 * The longest answer, including reasoning.
 */
maxOutputTokens?: number, 
/**
 * How varied the answer is. Most reasoning models refuse it.
 */
temperature?: number, 
/**
 * The probability mass that tokens are sampled from.
 */
topP?: number, 
/**
 * The user's setting for all models: `none`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`.
 */
reasoningEffort?: string, 
/**
 * What the user chose for this model. It takes precedence over the setting.
 */
chosenEffort?: string, 
/**
 * The efforts that the model offers, if they are known.
 */
efforts?: Array<string>, 
/**
 * `auto`, `concise` or `detailed`. The default is `auto`.
 */
reasoningSummary?: string, 
/**
 * An id that all requests of a conversation share, so that they hit the provider's prompt cache.
 */
conversationId?: string, 
/**
 * The id to use if neither the caller nor a marker in the messages names the conversation.
 */
newConversationId?: string, 
/**
 * Lets the gateway place cache markers for providers that need them.
 */
automaticCaching?: boolean, 
/**
 * Asks the gateway to keep prompts in the cache for an hour in place of five minutes. Writing to it costs more then.
 */
longCache?: boolean, 
/**
 * Moves lines that are different in every chat to the end of the instructions, so that new chats can use the prompt
 * cache.
 */
stableInstructions?: boolean, 
/**
 * Which providers the gateway may use.
 */
routing?: Routing, 
/**
 * Lets Claude models drop old tool results on their own.
 */
claudeContextManagement?: boolean, 
/**
 * The caller's own model options. A key that names an option above sets that option. Keys that start with `_` are
 * VS Code's and are never sent.
 */
extraBody: { [name: string]: unknown }, 
/**
 * The user's own headers. Headers that Sluice sets itself are ignored, and a note says so.
 */
extraHeaders?: { [key in string]: string }, };

export type Routing = { 
/**
 * The providers to try first, in this order.
 */
order?: Array<string>, 
/**
 * The only providers that may be used.
 */
only?: Array<string>, 
/**
 * Models to fall back to.
 */
models?: Array<string>, 
/**
 * `cost`, `ttft` or `tps`.
 */
sort?: string, };

export type HttpRequest = { 
/**
 * `GET` or `POST`.
 */
method: string, 
/**
 * The whole address, including the path.
 */
url: string, 
/**
 * All headers except the one with the key.
 */
headers: Array<[string, string]>, 
/**
 * The body, which is empty for `GET`.
 */
body: string, };

export type Endpoint = { 
/**
 * Scheme, host and port. A key belongs to one origin.
 */
origin: string, 
/**
 * The base URL without a slash at the end.
 */
baseUrl: string, 
/**
 * Whether the address is on this machine: `127.0.0.0/8`, `[::1]`, `localhost` and names that end in `.localhost`.
 * Requests to it never go through a proxy.
 */
isLoopback: boolean, 
/**
 * Whether everybody on the way can read what is sent, because the address is http and not on this machine. A shell
 * uses such an address only if the user agreed to that.
 */
isUnencrypted: boolean, 
/**
 * Whether it is Vercel's gateway.
 */
isVercel: boolean, 
/**
 * The page on which users create keys for it, if that is known.
 */
keysPage: string | null, };

export type KeptKey = { 
/**
 * The name that the user sees.
 */
name: string, 
/**
 * The server's address.
 */
baseUrl: string, 
/**
 * Absent if the server needs none.
 */
key?: string, 
/**
 * The fingerprint of the key in Manage Models that this one replaces.
 */
replaces?: string, };

export type Environment = { 
/**
 * The value of `SLUICE_BASE_URL`.
 */
baseUrl?: string, 
/**
 * Which of [`KEY_VARIABLES`] are set and not blank.
 */
keys: Array<string>, 
/**
 * The base URL in the user's settings, which counts unless the environment has one.
 */
defaultBaseUrl?: string, };

export type Sources = { 
/**
 * The base URL in the user's settings.
 */
baseUrl: string, 
/**
 * The keys that the user entered, as the shell has stored them.
 */
storedKeys: string, 
/**
 * The sign-in, if the user is signed in.
 */
signIn?: SignInSource, 
/**
 * The environment of the editor.
 */
environment: Environment, 
/**
 * The group in Manage Models that the question is about. Without it, the question is about everything else.
 */
group?: GroupSource, };

export type SignInSource = { 
/**
 * For whom.
 */
label: string, 
/**
 * The origin that the token is for.
 */
origin: string, };

export type GroupSource = { 
/**
 * The address that the user entered.
 */
baseUrl?: string, 
/**
 * Whether the user entered a key, if they were asked for one.
 */
hasKey?: boolean, };

export type SourceKey = "none" | "signIn" | { "text": string } | "group" | { "variable": string };

export type ConnectionTask = { "find": Sources } | "demo" | { "enter": KeptKey } | { "confirm": string } | { "origins": string | null };

export type ConnectionResult = { 
/**
 * The connections in the order in which their models are listed.
 */
found: Array<FoundConnection>, 
/**
 * See [`ConnectionTask::Origins`].
 */
origins: Array<string>, 
/**
 * Lines for the log.
 */
log: Array<[LogLevel, string]>, };

export type FoundConnection = { 
/**
 * Identifies the server and the key. Empty if there is no such thing.
 */
id: string, 
/**
 * Where it leads, unless there is a problem.
 */
endpoint: Endpoint | null, 
/**
 * Which key belongs to it.
 */
key: SourceKey, 
/**
 * Whether it is the gateway inside the editor.
 */
isDemo: boolean, 
/**
 * Whether the key isn't kept yet, because it is being checked.
 */
isTrial: boolean, 
/**
 * What the user has to agree to before it can be used.
 */
question: AddressQuestion | null, 
/**
 * The same as a notification, when there was none yet.
 */
notice: AddressQuestion | null, 
/**
 * The name that the user sees.
 */
label: string, 
/**
 * Its address. `None` if it can't be used.
 */
baseUrl: string | null, 
/**
 * Why it can't be used, in the user's language.
 */
problem: string | null, 
/**
 * Whether it can be used when the user has confirmed its address.
 */
mustConfirm: boolean, 
/**
 * Where a new key goes. `None` if the key can't be changed here, because it is in the environment or a sign-in.
 */
kept: KeptKey | null, 
/**
 * Whether the key comes from a sign-in.
 */
isSignIn: boolean, };

export type AddressQuestion = { 
/**
 * How urgent it is.
 */
level: DialogLevel, 
/**
 * What it says.
 */
text: Array<Message>, 
/**
 * The button.
 */
buttons: Array<Message>, };

export type RoundEvent = "began" | { "ungrouped": Array<RoundList> } | { "group": RoundList } | "groupsDue";

export type RoundList = { 
/**
 * The name of the connection.
 */
label: string, 
/**
 * Its models.
 */
models: Array<RoundModel>, };

export type RoundModel = { 
/**
 * The server's id.
 */
id: string, 
/**
 * The name that the user sees.
 */
name: string, 
/**
 * See [`ChatModel::is_default`](crate::ChatModel::is_default).
 */
isDefault: boolean, };

export type RoundView = { 
/**
 * VS Code's id and the name of each model, in the order of the event.
 */
names: Array<[string, string]>, 
/**
 * The model of the demo that is listed too, by its id.
 */
demo: string | null, 
/**
 * Whether the user can choose the demo. A chat may be using it while it is hidden.
 */
isDemoOffered: boolean, 
/**
 * Whether to send [`RoundEvent::GroupsDue`] after a second.
 */
awaitsGroups: boolean, 
/**
 * Whether another round is needed.
 */
mustRepeat: boolean, 
/**
 * Dialogs that each user sees only once, with the names under which that is remembered.
 */
dialogs: Array<[string, Dialog]>, };

export type HttpResponse = { 
/**
 * The HTTP status.
 */
status: number, 
/**
 * All headers. Their names are compared without regard to case.
 */
headers: Array<[string, string]>, 
/**
 * The body, or the beginning of it ([`BodyRule`]).
 */
body: string, };

export type Transport = "connect" | "headersTimeout" | "broken" | "idle" | "redirect" | "tooLarge";

export type BodyRule = { 
/**
 * The maximum number of bytes, after decompression.
 */
maxBytes: number, 
/**
 * Whether the beginning of the body is enough if the rest is too long or doesn't arrive. Otherwise, such a response
 * counts as missing.
 */
mayBePartial: boolean, };

export type ExchangeOptions = { 
/**
 * The endpoint's origin, for messages about the connection.
 */
origin?: string, 
/**
 * The endpoint's base URL. If there is no API, the one with or without `/v1` is tried once.
 */
baseUrl?: string, 
/**
 * The model that is asked. What it thinks goes back to this model only.
 */
model?: string, 
/**
 * How the answer is read.
 */
stream?: StreamOptions, 
/**
 * When text is returned.
 */
pace?: Pace, 
/**
 * The longest wait for the head of a response, in milliseconds.
 */
headTimeoutMs?: number, 
/**
 * The longest silence in the middle of a body, in milliseconds. While the model writes a tool call, there is no such
 * limit, because some providers send nothing until they have all of it.
 */
idleTimeoutMs?: number, 
/**
 * The longest wait for the next part of a stream, in milliseconds, so that a server can't keep a request alive with
 * comments, or events that lead to no part. A whole response must arrive within the same time.
 */
outputTimeoutMs?: number, 
/**
 * The longest time that the body of a refusal may take, in milliseconds.
 */
refusalTimeoutMs?: number, 
/**
 * The maximum number of attempts, including the first.
 */
maxAttempts?: number, 
/**
 * The parameters of the request that may be left out if the server refuses them by name.
 */
optional?: Array<Parameter>, 
/**
 * A random number between 0 and 1, which spreads the retries of many clients.
 */
random?: number, };

export type StreamOptions = { 
/**
 * The names of the tools in the request, so that calls are reported under the names that VS Code knows.
 */
toolNames?: { [key in string]: string }, 
/**
 * Whether call ids are reported without our prefix, for shells that build requests themselves.
 */
plainCallIds?: boolean, 
/**
 * Whether there is a note for every event.
 */
trace?: boolean, };

export type Pace = "immediate" | "steady" | "chatView" | "atEnd";

export type Effort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

export type Parameter = "caching" | { "effort": [Effort, Effort | null] } | "imageDetail" | "include" | "maxOutputTokens" | { "mostOutputTokens": number } | { "mostTools": number } | "promptCacheKey" | "providerOptions" | "reasoningEffort" | "reasoningItems" | "reasoningSummary" | "store" | "toolOutputParts";

export type Action = { "type": "send", 
/**
 * How long to wait for the head of the response.
 */
timeoutMs: number, 
/**
 * The parameters that the server refused in an earlier attempt.
 */
without: Array<Parameter>, 
/**
 * Another address of the same origin to send it to.
 */
url: string | null, } | { "type": "read", 
/**
 * How long to wait for the next bytes.
 */
timeoutMs: number, } | { "type": "wait", 
/**
 * How long to wait.
 */
timeoutMs: number, 
/**
 * Why the last attempt failed.
 */
failure: Failure, 
/**
 * The number of the next attempt, where the first is 1.
 */
attempt: number, } | { "type": "end" } & Report;

export type Report = { 
/**
 * How the answer ended.
 */
outcome: Outcome, 
/**
 * What to do about it.
 */
ending: Ending, 
/**
 * Token counts for VS Code, if the server reported them.
 */
usage: VsCodeUsage | null, 
/**
 * The number of attempts.
 */
attempts: number, 
/**
 * Parameters that the server refused by name, before it accepted the request without them. Leave them out next
 * time.
 */
refused: Array<Parameter>, 
/**
 * Whether the server accepted the request only without the reasoning in it. Don't send the same reasoning again.
 */
reasoningRefused: boolean, 
/**
 * The message of an error that revealed the size of the model's window, even if the request was then accepted with
 * less. [`ModelCatalog::learn`](crate::ModelCatalog::learn) reads it.
 */
overflow: string | null, 
/**
 * Set if there is no API at the base URL, but at another one of the same origin, which answered.
 */
elsewhere: Elsewhere | null, 
/**
 * Set if the connection may be reused once the rest of the body has been read.
 */
drain: Drain | null, };

export type Ending = { "type": "done" } | { "type": "cancelled" } | { "type": "rejected", 
/**
 * What to tell the user, in English.
 */
message: string, 
/**
 * The same, sentence by sentence, for shells that translate.
 */
text: Array<Message>, 
/**
 * `None` if the server reported success and there is still nothing, or too little, to show.
 */
kind: FailureKind | null, 
/**
 * Whether the answer is usable. The message then belongs below it, and nothing has failed.
 */
isNote: boolean, 
/**
 * A page on which the user can solve the problem. It is ours, not the server's, so it may be a link.
 */
page: string | null, };

export type Drain = { 
/**
 * How long the rest may take to arrive.
 */
timeoutMs: number, 
/**
 * How long the rest may be.
 */
maxBytes: number, };

export type Elsewhere = { 
/**
 * The base URL for the next requests.
 */
baseUrl: string, 
/**
 * What to tell the user.
 */
message: Message, };

export type VsCodeUsage = { 
/**
 * All of the input, including what came from a cache.
 */
prompt_tokens: number, completion_tokens: number, total_tokens: number, prompt_tokens_details?: PromptDetails, completion_tokens_details?: CompletionDetails, };

export type PromptDetails = { cached_tokens: number, };

export type CompletionDetails = { reasoning_tokens: number, };

export type ModelList = { 
/**
 * Favourites come first, then the server's order.
 */
models: Array<ChatModel>, 
/**
 * Models that can't chat, and those that a rule hides.
 */
others: Array<OtherModel>, 
/**
 * Entries that can't be used, and settings that aren't valid.
 */
notes: Array<Note>, 
/**
 * The base URL that has the list, if there is none at the user's.
 */
elsewhere: string | null, };

export type ChatModel = { 
/**
 * The id that requests name, such as `anthropic/claude-sonnet-4.5`.
 */
id: string, 
/**
 * The name for people.
 */
name: string, 
/**
 * The model family without creator, date or stage: `claude-sonnet-4.5`, `gpt-5.2`, `gemini-3-pro`.
 */
family: string, 
/**
 * The release date in the id (`20250929`), or else the number in the family (`4.5`), or else `latest`.
 */
version: string, 
/**
 * How many tokens a request may have. VS Code summarizes a longer conversation.
 */
maxInputTokens: number, 
/**
 * How many tokens an answer may have.
 */
maxOutputTokens: number, 
/**
 * The limit for the answer to send with a request; `None` if none was stated.
 */
sentOutputTokens: number | null, 
/**
 * The sum of `max_input_tokens` and `max_output_tokens`.
 */
contextWindow: number, 
/**
 * Where the limits come from.
 */
limitsFrom: LimitsFrom, 
/**
 * What the model can do.
 */
capabilities: ModelCapabilities, 
/**
 * A short text to show next to the name.
 */
detail: string, 
/**
 * A longer description: paragraphs in Markdown, whose details are to be joined with commas.
 */
tooltip: Array<Array<Message>>, 
/**
 * For example `$3 / $15 per M tokens` and `cached $0.30`, to be joined with commas. Empty if the server publishes no
 * prices.
 */
pricing: Array<Message>, 
/**
 * The first of them alone, such as `$3 / $15`, for a narrow column.
 */
price: Message | null, 
/**
 * The same prices as numbers.
 */
prices: Prices | null, 
/**
 * How expensive the model is compared with others.
 */
priceCategory: PriceCategory | null, 
/**
 * What the model is made for, as its name suggests.
 */
category: ModelCategory, 
/**
 * What VS Code shows when the mouse points at the model: one line each, whose details are to be joined with commas.
 */
info: Array<Array<Message>>, 
/**
 * A warning to show above that: the model will be switched off.
 */
warning: Message | null, 
/**
 * Smaller context windows to choose from, and the whole one as the last. Empty if there is no choice.
 */
contextSizes: Array<number>, 
/**
 * The levels of reasoning effort to choose from, if there are any.
 */
effort: EffortChoices | null, 
/**
 * Whether VS Code lists the model in its picker.
 */
isUserSelectable: boolean, 
/**
 * Whether a favourites pattern matches. Favourites come first.
 */
isFavourite: boolean, 
/**
 * Whether the model is worth seeing before the others: the default, the favourites, or the newest of each line if
 * there are no favourites.
 */
isFeatured: boolean, 
/**
 * Whether the model is selected if the user hasn't chosen one.
 */
isDefault: boolean, 
/**
 * Whether the model suits small jobs best, such as titles and commit messages.
 */
isSmallDefault: boolean, 
/**
 * The company that trained the model, which is the first part of most ids.
 */
creator: string, 
/**
 * The server's description, on one line.
 */
description: string | null, 
/**
 * The release time in seconds since 1970.
 */
released: number | null, 
/**
 * When the model will be or was switched off, in seconds since 1970.
 */
deprecatedAt: number | null, 
/**
 * The date up to which the training data reaches.
 */
knowledge: string | null, 
/**
 * The server's own keywords, such as `reasoning` or `vision`.
 */
tags: Array<string>, 
/**
 * Where the model runs, as the server names the regions.
 */
regions: Array<string>, 
/**
 * The request parameters that the server says the model supports.
 */
parameters: Array<string>, 
/**
 * Whether a provider promises to retain nothing; absent if unknown.
 */
zeroDataRetention: boolean | null, 
/**
 * The providers that serve the model. Empty until the model's endpoints have been fetched.
 */
providers: Array<ModelProvider>, 
/**
 * Parameters that the server refused in requests to this model. They are left out of the next ones.
 */
refused: Array<Parameter>, 
/**
 * What the user set for requests to this model.
 */
overrides: ModelOverride, };

export type ListedModel = { 
/**
 * What VS Code shows.
 */
shown: ShownModel, 
/**
 * The options of requests to this model that differ from the user's settings.
 */
request: Partial<ChatOptions>, 
/**
 * The id that requests name, such as `anthropic/claude-sonnet-4.5`.
 */
id: string, 
/**
 * The name for people.
 */
name: string, 
/**
 * The model family without creator, date or stage: `claude-sonnet-4.5`, `gpt-5.2`, `gemini-3-pro`.
 */
family: string, 
/**
 * The release date in the id (`20250929`), or else the number in the family (`4.5`), or else `latest`.
 */
version: string, 
/**
 * How many tokens a request may have. VS Code summarizes a longer conversation.
 */
maxInputTokens: number, 
/**
 * How many tokens an answer may have.
 */
maxOutputTokens: number, 
/**
 * The limit for the answer to send with a request; `None` if none was stated.
 */
sentOutputTokens: number | null, 
/**
 * The sum of `max_input_tokens` and `max_output_tokens`.
 */
contextWindow: number, 
/**
 * Where the limits come from.
 */
limitsFrom: LimitsFrom, 
/**
 * What the model can do.
 */
capabilities: ModelCapabilities, 
/**
 * A short text to show next to the name.
 */
detail: string, 
/**
 * A longer description: paragraphs in Markdown, whose details are to be joined with commas.
 */
tooltip: Array<Array<Message>>, 
/**
 * For example `$3 / $15 per M tokens` and `cached $0.30`, to be joined with commas. Empty if the server publishes no
 * prices.
 */
pricing: Array<Message>, 
/**
 * The first of them alone, such as `$3 / $15`, for a narrow column.
 */
price: Message | null, 
/**
 * The same prices as numbers.
 */
prices: Prices | null, 
/**
 * How expensive the model is compared with others.
 */
priceCategory: PriceCategory | null, 
/**
 * What the model is made for, as its name suggests.
 */
category: ModelCategory, 
/**
 * What VS Code shows when the mouse points at the model: one line each, whose details are to be joined with commas.
 */
info: Array<Array<Message>>, 
/**
 * A warning to show above that: the model will be switched off.
 */
warning: Message | null, 
/**
 * Smaller context windows to choose from, and the whole one as the last. Empty if there is no choice.
 */
contextSizes: Array<number>, 
/**
 * The levels of reasoning effort to choose from, if there are any.
 */
effort: EffortChoices | null, 
/**
 * Whether VS Code lists the model in its picker.
 */
isUserSelectable: boolean, 
/**
 * Whether a favourites pattern matches. Favourites come first.
 */
isFavourite: boolean, 
/**
 * Whether the model is worth seeing before the others: the default, the favourites, or the newest of each line if
 * there are no favourites.
 */
isFeatured: boolean, 
/**
 * Whether the model is selected if the user hasn't chosen one.
 */
isDefault: boolean, 
/**
 * Whether the model suits small jobs best, such as titles and commit messages.
 */
isSmallDefault: boolean, 
/**
 * The company that trained the model, which is the first part of most ids.
 */
creator: string, 
/**
 * The server's description, on one line.
 */
description: string | null, 
/**
 * The release time in seconds since 1970.
 */
released: number | null, 
/**
 * When the model will be or was switched off, in seconds since 1970.
 */
deprecatedAt: number | null, 
/**
 * The date up to which the training data reaches.
 */
knowledge: string | null, 
/**
 * The server's own keywords, such as `reasoning` or `vision`.
 */
tags: Array<string>, 
/**
 * Where the model runs, as the server names the regions.
 */
regions: Array<string>, 
/**
 * The request parameters that the server says the model supports.
 */
parameters: Array<string>, 
/**
 * Whether a provider promises to retain nothing; absent if unknown.
 */
zeroDataRetention: boolean | null, 
/**
 * The providers that serve the model. Empty until the model's endpoints have been fetched.
 */
providers: Array<ModelProvider>, 
/**
 * Parameters that the server refused in requests to this model. They are left out of the next ones.
 */
refused: Array<Parameter>, 
/**
 * What the user set for requests to this model.
 */
overrides: ModelOverride, };

export type ShownModel = { 
/**
 * VS Code's name for the model, which also appears in hovers. Requests use the id of the [`ChatModel`].
 */
id: string, name: string, family: string, version: string, maxInputTokens: number, maxOutputTokens: number, maxContextWindowTokens: number, capabilities: { imageInput: boolean, toolCalling: boolean }, detail: string, tooltip: string, isUserSelectable: boolean, category: ModelCategory, pricing?: string, priceCategory?: PriceCategory, infoText: { [key in string]: string }, 
/**
 * VS Code gives models with the key `model_pending_deprecation` a badge.
 */
warningText?: { [key in string]: string }, 
/**
 * The theme icon of its status.
 */
icon?: string, 
/**
 * VS Code puts models with such a field at the top of its picker, and shows nothing else of it.
 */
promo?: object, 
/**
 * The pickers for the thinking effort and the context size, in the format of Copilot's own.
 */
configurationSchema?: object, };

export type LimitsFrom = "assumed" | "list" | "providers" | "learned" | "setting";

export type ModelCapabilities = { 
/**
 * Whether the model can call tools.
 */
toolCalling: boolean, 
/**
 * Whether `tool_calling` is assumed, because the server said nothing about tools.
 */
toolCallingAssumed: boolean, 
/**
 * Whether messages may contain images.
 */
imageInput: boolean, 
/**
 * Whether messages may contain other files, such as PDFs.
 */
fileInput: boolean, 
/**
 * Whether answers may contain images.
 */
imageOutput: boolean, 
/**
 * Whether the model can reason before it answers.
 */
thinking: boolean, 
/**
 * Whether the provider can search the web for the model.
 */
webSearch: boolean, 
/**
 * Whether answers can be made to follow a JSON schema.
 */
structuredOutput: boolean, 
/**
 * Whether a prompt that was sent before costs less.
 */
promptCaching: boolean, };

export type EffortChoices = { 
/**
 * The levels, such as `low`, `medium` and `high`.
 */
values: Array<string>, 
/**
 * The user's setting, if it is one of `values`. Otherwise the model decides, because VS Code would send a default of
 * ours with every request as if the user had chosen it.
 */
default: string | null, };

export type Prices = { 
/**
 * The price of input that isn't cached.
 */
input: number | null, 
/**
 * The price of output, including reasoning.
 */
output: number | null, 
/**
 * The price of input that was in the provider's prompt cache.
 */
cachedInput: number | null, 
/**
 * The price of input that is written to the provider's prompt cache.
 */
cacheWrite: number | null, 
/**
 * Different prices for long requests, in order of length.
 */
tiers: Array<PriceTier>, };

export type PriceTier = { 
/**
 * The smallest number of input tokens that this tier applies to.
 */
fromInputTokens: number, 
/**
 * The price of input that isn't cached.
 */
input: number | null, 
/**
 * The price of output, including reasoning.
 */
output: number | null, 
/**
 * The price of input that was in the provider's prompt cache.
 */
cachedInput: number | null, 
/**
 * The price of input that is written to the provider's prompt cache.
 */
cacheWrite: number | null, };

export type ModelProvider = { 
/**
 * The provider's name, which [`Routing`](crate::Routing) uses too.
 */
name: string, 
/**
 * Whether it is serving requests, as far as the gateway knows.
 */
isActive: boolean, 
/**
 * How many tokens input and output may have together.
 */
contextWindow: number | null, 
/**
 * How many tokens an answer may have.
 */
maxOutputTokens: number | null, 
/**
 * How many tokens a request may have.
 */
maxInputTokens: number | null, 
/**
 * The provider's prices, if they are known.
 */
prices: Prices | null, 
/**
 * The precision of the weights, such as `fp8`.
 */
quantization: string | null, 
/**
 * In per cent.
 */
uptime: number | null, 
/**
 * The median time to the first token.
 */
latencyMs: number | null, 
/**
 * The median speed of answers.
 */
tokensPerSecond: number | null, };

export type OtherModel = { 
/**
 * The id that requests name.
 */
id: string, 
/**
 * The name for people.
 */
name: string, 
/**
 * `embedding`, `image` and so on, or `hidden`.
 */
kind: string, 
/**
 * The prices, if the server publishes them.
 */
prices: Prices | null, };

export type ModelSettings = { 
/**
 * Patterns of models that are not offered.
 */
hide?: Array<string>, 
/**
 * Patterns of models that come first.
 */
favourites?: Array<string>, 
/**
 * The default is the first model that matches the first pattern that has a match.
 */
default?: Array<string>, 
/**
 * The thinking effort, unless the model decides.
 */
effort?: string, 
/**
 * What the user sets for single models, by pattern: the fields of [`ModelOverride`], as the user writes them. If
 * several patterns match, the one with more letters wins, field by field.
 */
overrides?: { [pattern: string]: unknown }, 
/**
 * The ids of models that the user names, by the address of their server. They are offered even if the server has no
 * list.
 */
added?: { [key in string]: Array<string> }, };

export type ModelOverride = { 
/**
 * How many tokens input and output may have together.
 */
contextWindow: number | null, 
/**
 * How many tokens a request may have.
 */
maxInputTokens: number | null, 
/**
 * How many tokens an answer may have.
 */
maxOutputTokens: number | null, 
/**
 * The thinking effort, unless the model picker says otherwise.
 */
effort: string | null, 
/**
 * Whether messages may contain images.
 */
imageInput: boolean | null, 
/**
 * Whether the model calls tools.
 */
toolCalling: boolean | null, 
/**
 * Whether the model is not offered.
 */
hidden: boolean | null, 
/**
 * Fields to add to the request body, such as `temperature`.
 */
body: { [name: string]: unknown }, 
/**
 * Which providers the gateway may use for the model.
 */
routing: Routing | null, };

export type PriceCategory = "low" | "medium" | "high" | "very_high";

export type ModelCategory = "lightweight" | "versatile" | "powerful";

export type Settings = { 
/**
 * Which models are shown.
 */
models: ModelSettings, 
/**
 * What applies to every request, apart from the extra headers.
 */
chat: ChatOptions, 
/**
 * The extra headers by origin and name.
 */
headers: { [key in string]: { [key in string]: string } }, 
/**
 * The longest silence in the middle of a body, in milliseconds.
 */
idleTimeoutMs: number, 
/**
 * What to do with thinking where it can't be shown separately.
 */
thinkingFallback: ThinkingFallback, 
/**
 * What may be spent, or `None` if there is no limit.
 */
spend: SpendLimits | null, 
/**
 * What doesn't work as written.
 */
problems: Array<SettingProblem>, };

export type SettingProblem = { 
/**
 * The setting to change, by its name in VS Code without `sluice.`.
 */
setting: string, 
/**
 * What is wrong and what to do about it. Values of headers are never part of it.
 */
message: Message, };

export type ThinkingFallback = "hide" | "text";

export type ListState = "fresh" | "stale" | "missing";

export type Estimate = { 
/**
 * How many tokens the request is expected to have.
 */
tokens: number, 
/**
 * How many of them a server has counted: all of them, if this exact request was answered before.
 */
known: number, };

export type RequestKind = "main" | "subAgent" | "summary" | "utility" | "inline";

export type QuestionId = { 
/**
 * A hash of what the user wrote last.
 */
text: number, 
/**
 * A hash of everything that the user wrote, because the same question may be asked in several conversations.
 */
thread: number, };

export type RequestUsage = { 
/**
 * The id from the start.
 */
id: string, 
/**
 * The conversation that the request belongs to.
 */
conversation: string, 
/**
 * The model's id.
 */
model: string, 
/**
 * What the request was for.
 */
kind: RequestKind, 
/**
 * The thinking effort that was asked for, or `null` if the model decided.
 */
effort: string | null, 
/**
 * Whether the server said that the answer is over.
 */
isAnswered: boolean, 
/**
 * How many input tokens were expected.
 */
estimate: number | null, 
/**
 * The tokens of the request, cached ones included.
 */
inputTokens: number | null, 
/**
 * The input tokens that were in the provider's prompt cache.
 */
cachedTokens: number | null, 
/**
 * The tokens of the answer, reasoning included.
 */
outputTokens: number | null, 
/**
 * The output tokens that were reasoning.
 */
reasoningTokens: number | null, 
/**
 * In US dollars.
 */
cost: number | null, 
/**
 * Where the cost comes from.
 */
costBasis: CostBasis | null, 
/**
 * The time to the first part.
 */
firstPartMs: number | null, 
/**
 * The time to the end.
 */
totalMs: number, 
/**
 * The speed while the answer was streaming.
 */
tokensPerSecond: number | null, };

export type Totals = { 
/**
 * How many requests there were.
 */
requests: number, 
/**
 * How many of them the server didn't count. Their tokens are missing here.
 */
uncounted: number, 
/**
 * How many of them were counted but have no known cost.
 */
unpriced: number, 
/**
 * The tokens of the requests, cached ones included.
 */
inputTokens: number, 
/**
 * The input tokens that were in a prompt cache.
 */
cachedTokens: number, 
/**
 * The tokens of the answers, reasoning included.
 */
outputTokens: number, 
/**
 * The output tokens that were reasoning.
 */
reasoningTokens: number, 
/**
 * In US dollars.
 */
cost: number, 
/**
 * The number of requests that returned a part. `first_part_ms` is the sum over these.
 */
firstParts: number, 
/**
 * The sum of the times to the first part.
 */
firstPartMs: number, 
/**
 * The tokens of the requests whose speed is known. `streaming_ms` is the sum over these.
 */
streamedTokens: number, 
/**
 * The sum of the times from the first part to the end.
 */
streamingMs: number, };

export type StatusLine = { 
/**
 * For example `52.0k/128k · 41 %`, preceded by `~` while it is an estimate. Join with ` · `.
 */
text: Array<Message>, 
/**
 * How full the conversation is.
 */
level: Level, 
/**
 * What is happening.
 */
activity: Activity, 
/**
 * What is shown when the pointer rests on the status bar.
 */
tooltip: Array<TooltipLine>, };

export type Level = "normal" | "warning" | "error";

export type Activity = "idle" | "answering" | "summarizing";

export type TooltipLine = { 
/**
 * What the line is about.
 */
label: Message, 
/**
 * The details, to be joined with commas.
 */
value: Array<Message>, };

export type Reader = "chat" | "agentHost" | "program";

export type RejectedAnswer = { reader: Reader, text: Array<Message>, kind: FailureKind | null, isNote: boolean, page: string | null, };

export type ShownRejection = { "type": "note", 
/**
 * The text to add to the answer. It isn't sent to the model with the next question.
 */
markdown: string, } | { "type": "error", 
/**
 * What happened, and what the user can do in VS Code.
 */
text: string, 
/**
 * A link to show after the text, in Markdown. Its address is built in, so no server can choose it.
 */
link: string, 
/**
 * What VS Code calls the failure, for extensions that check the code.
 */
code: string | null, 
/**
 * What the server says about the key, if it doesn't accept it.
 */
refusal: Array<Message> | null, };

export type StatusBarFacts = { 
/**
 * The line of the conversation with the newest request.
 */
line: StatusLine | null, 
/**
 * Why a request is sent again, and in how many milliseconds.
 */
retrying: [string, number] | null, 
/**
 * Whether the user may want VS Code to show text sooner.
 */
offersSmoothStreaming: boolean, };

export type StatusBarView = { 
/**
 * The text, with an icon.
 */
text: string, 
/**
 * The colour of the background.
 */
level: Level, 
/**
 * The tooltip, in Markdown. Its only links are those of the commands in `commands`.
 */
tooltip: string, 
/**
 * The commands that the tooltip may run.
 */
commands: [string], 
/**
 * What a screen reader says, because `12k/168k` says little to those who don't see where it is.
 */
spoken: string, 
/**
 * Whether it looks different a second later.
 */
isCounting: boolean, };

export type ReportFacts = { 
/**
 * Our version.
 */
sluice: string, 
/**
 * The editor. Its field `remote` is the name of the remote connection.
 */
vscode: object, 
/**
 * The machine.
 */
machine: object, 
/**
 * Whether the editor can show thinking separately.
 */
thinkingParts: boolean, 
/**
 * The settings that the user changed.
 */
settings: object, 
/**
 * The connections, or what is wrong with them.
 */
connections: object[], 
/**
 * The latest lines of the log.
 */
log: Array<string>, 
/**
 * The names of connections, which may be those of teams.
 */
labels: Array<string>, 
/**
 * The secrets that are known.
 */
secrets: Array<string>, };

export type Preflight = { 
/**
 * How serious it is.
 */
level: Level, 
/**
 * What to tell the user.
 */
message: Message, };

export type Message = { 
/**
 * Which sentence it is.
 */
code: MessageCode, 
/**
 * What replaces `{0}`, `{1}` and so on.
 */
args: Array<string>, };

export type Language = { 
/**
 * Its name, such as `de`.
 */
name: string, 
/**
 * The translations, by the English sentence.
 */
sentences: { [key in string]: string }, };

export type LedgerModel = { 
/**
 * The origin of the server. Correction factors are learned for each model of each server.
 */
origin: string, 
/**
 * How many tokens a request may have.
 */
maxInputTokens?: number, 
/**
 * How many tokens a request and its answer may have together.
 */
contextWindow?: number, 
/**
 * The prices, for servers that don't report costs.
 */
prices?: Prices, 
/**
 * The parameters that are not sent, see [`ChatModel::refused`](crate::ChatModel::refused).
 */
refused?: Array<Parameter>, };

export type Begun = { 
/**
 * How many input tokens the request is expected to have.
 */
estimate: Estimate, 
/**
 * What the request is for.
 */
kind: RequestKind, 
/**
 * What the request is for, in a few English words: `chat title`.
 */
purpose: string, 
/**
 * A warning for the user before the request is sent.
 */
warning: Preflight | null, 
/**
 * What the request is expected to use and to cost.
 */
forecast: Forecast, 
/**
 * The status line of the conversation that the user probably sees.
 */
status: StatusLine | null, };

export type Ended = { 
/**
 * What the request used.
 */
used: RequestUsage, 
/**
 * Everything that is known about the request. The shell keeps it.
 */
record: RequestRecord, 
/**
 * The status line of the conversation that the user probably sees.
 */
status: StatusLine | null, 
/**
 * The sums of its conversation.
 */
conversation: Totals | null, };

export type Dialog = "refreshModels" | "testConnection" | { "connectionProblem": string } | { "settingProblem": { 
/**
 * Its name, without `sluice.`.
 */
setting: string, 
/**
 * What is wrong with it.
 */
message: Message, 
/**
 * How many other problems there are.
 */
others: number, } } | "signIn" | "signOut" | { "toggleRecording": { 
/**
 * Milliseconds since 1970.
 */
nowMs: number, 
/**
 * Whether a folder or a workspace is open.
 */
hasWorkspace: boolean, } } | { "exportRecording": string } | "smoothStreaming" | "chooseDefaultModel" | "editModel" | "setUpModels" | "noKeyYet" | "greet" | { "startWith": string } | "addKey" | { "keyRefused": { 
/**
 * The server and the key.
 */
connection: DialogConnection, 
/**
 * What the server said, in the user's language.
 */
reason: string, } } | "addServer" | { "askAboutLimit": { 
/**
 * The text of the [`Verdict`](crate::Verdict).
 */
text: Array<Message>, 
/**
 * The limit of the [`Verdict`](crate::Verdict).
 */
limit: LimitState, } } | { "raiseLimit": LimitState | null };

export type DialogStep = { "type": "pick", 
/**
 * The title of the list.
 */
title: Array<Message>, 
/**
 * What the empty search field says.
 */
placeholder: Array<Message>, 
/**
 * The rows.
 */
rows: Array<DialogRow>, } | { "type": "input", 
/**
 * What the box looks like.
 */
input: DialogInput, 
/**
 * What is wrong with the last input. If there was one, its box is still open.
 */
problem: Array<Message> | null, } | { "type": "closeInput" } | { "type": "show", 
/**
 * How urgent it is.
 */
level: DialogLevel, 
/**
 * What it says.
 */
text: Array<Message>, 
/**
 * What the user can do about it.
 */
buttons: Array<Message>, } | { "type": "readSetting", 
/**
 * Its full name.
 */
name: string, 
/**
 * Whether only the user's own value counts, not a default or the value of a workspace.
 */
isOwn: boolean, } | { "type": "writeSetting", 
/**
 * Its full name.
 */
name: string, 
/**
 * The new value, or `null` to remove it.
 */
value: unknown, 
/**
 * Whether this version of VS Code may not have the setting. Nothing happens then.
 */
mayBeUnknown: boolean, } | { "type": "run", 
/**
 * Its name.
 */
command: string, 
/**
 * Its arguments.
 */
arguments: unknown[], } | { "type": "listModels" } | { "type": "listConnections" } | { "type": "confirmAddress", 
/**
 * Which connection of the last [`ListConnections`](Self::ListConnections).
 */
index: number, } | { "type": "refreshModels", 
/**
 * What to show until then.
 */
title: Message, } | { "type": "testConnection", 
/**
 * Which connection of the last [`ListConnections`](Self::ListConnections).
 */
index: number, 
/**
 * What to show until then.
 */
title: Message, } | { "type": "askVercel", 
/**
 * What to ask.
 */
task: VercelTask, 
/**
 * What to show until then.
 */
title: Message | null, } | { "type": "signOut" } | { "type": "runInTerminal", 
/**
 * The command.
 */
command: string, } | { "type": "copy", 
/**
 * The text.
 */
text: string, } | { "type": "openRecording", 
/**
 * The id of the request.
 */
id: string, 
/**
 * Whether it has the texts of the request.
 */
withTexts: boolean, } | { "type": "readState", 
/**
 * Its name.
 */
name: string, } | { "type": "writeState", 
/**
 * Its name.
 */
name: string, 
/**
 * The value, or `null` to remove it.
 */
value: unknown, 
/**
 * Whether it is only for this workspace.
 */
isOfWorkspace: boolean, } | { "type": "readKeys" } | { "type": "writeKeys", 
/**
 * What to store. If it is empty, there is nothing to store any more.
 */
stored: string, } | { "type": "readOrigins", 
/**
 * The key.
 */
key: string | null, } | { "type": "checkServer", 
/**
 * The server and its key.
 */
server: KeptKey, } | { "type": "forgetServer", 
/**
 * The server and its key.
 */
server: KeptKey, } | { "type": "open", 
/**
 * Its address.
 */
url: string, } | { "type": "done", 
/**
 * What the user decided about a limit. `None` in all other dialogs.
 */
choice: SpendChoice | null, };

export type DialogRow = { 
/**
 * What it is.
 */
label: Array<Message>, 
/**
 * The name of an icon of VS Code, to show before the label.
 */
icon: string | null, 
/**
 * What is shown after the label.
 */
description: Array<Message>, 
/**
 * What is shown below the label.
 */
detail: Array<Message>, };

export type DialogInput = { 
/**
 * The title of the box.
 */
title: Array<Message>, 
/**
 * What to enter.
 */
prompt: Array<Message>, 
/**
 * What the box contains at the beginning.
 */
value: string, 
/**
 * Whether nobody may read it from the screen.
 */
isSecret: boolean, 
/**
 * Other things to do: the names of icons of VS Code, and what they do. A button closes the box.
 */
buttons: Array<[string, Message]>, };

export type InputAnswer = { "entered": string } | { "button": number };

export type DialogLevel = "information" | "warning" | "error" | "question";

export type DialogModel = { 
/**
 * VS Code's id.
 */
id: string, 
/**
 * The server's id. Several connections may have a model with the same one.
 */
serverId: string, 
/**
 * The name that the user sees.
 */
name: string, 
/**
 * What is shown below the name.
 */
detail: string, 
/**
 * What it costs, in the user's language. Empty if that isn't known.
 */
pricing: string, 
/**
 * See [`ChatModel::is_default`](crate::ChatModel::is_default).
 */
isDefault: boolean, 
/**
 * See [`ChatModel::is_small_default`](crate::ChatModel::is_small_default).
 */
isSmallDefault: boolean, };

export type DialogConnection = { 
/**
 * The name that the user sees.
 */
label: string, 
/**
 * Its address. `None` if it can't be used.
 */
baseUrl: string | null, 
/**
 * Why it can't be used, in the user's language.
 */
problem: string | null, 
/**
 * Whether it can be used when the user has confirmed its address.
 */
mustConfirm: boolean, 
/**
 * Where a new key goes. `None` if the key can't be changed here, because it is in the environment or a sign-in.
 */
kept: KeptKey | null, 
/**
 * Whether the key comes from a sign-in.
 */
isSignIn: boolean, };

export type ServerCheck = { 
/**
 * How many models can chat.
 */
models: number, 
/**
 * The id and the name of the model that suits new chats best.
 */
defaultModel: [string, string] | null, 
/**
 * The last note about the list.
 */
note: Array<Message> | null, 
/**
 * Why the list couldn't be refreshed. The models known before are still there.
 */
problems: Array<Message>, 
/**
 * See [`ModelList::elsewhere`](crate::ModelList::elsewhere).
 */
elsewhere: string | null, 
/**
 * Why the server doesn't accept the key, or needs one, if it was asked.
 */
refusal: Array<Message> | null, };

export type ConnectionTest = { 
/**
 * One sentence about it.
 */
verdict: string, 
/**
 * Whether something doesn't work.
 */
isFailed: boolean, 
/**
 * The whole card as a text.
 */
details: string, };

export type VercelAnswer = { 
/**
 * The user's teams.
 */
teams: Array<VercelTeam>, 
/**
 * The projects of a team.
 */
projects: Array<VercelProject>, 
/**
 * What the user can do if it failed.
 */
problem: MessageCode | null, 
/**
 * A command for a terminal that would help.
 */
command: string | null, };

export type WorkStep = { "type": "list", 
/**
 * The subfolder.
 */
folder: string, 
/**
 * Whether sizes and times are needed. They may be 0 otherwise.
 */
withDetails: boolean, } | { "type": "read", 
/**
 * The names in the order in which they are tried.
 */
names: Array<string>, } | { "type": "write", 
/**
 * The name.
 */
name: string, } | { "type": "rename", 
/**
 * The name that it has.
 */
from: string, 
/**
 * The name that it gets.
 */
to: string, 
/**
 * Whether a file with the new name is replaced. If not, nothing happens if there is one.
 */
mayReplace: boolean, } | { "type": "delete", 
/**
 * The name.
 */
name: string, } | { "type": "readSession" } | { "type": "writeSession", 
/**
 * What to store. A log must never contain the token in it.
 */
session: NewSession | null, } | { "type": "readTexts", 
/**
 * The paths.
 */
paths: Array<string>, } | { "type": "send", 
/**
 * The request, without the token.
 */
request: HttpRequest, 
/**
 * The token of the Vercel CLI.
 */
bearer: string, } | { "type": "fingerprint", 
/**
 * Where it is.
 */
key: SourceKey, } | { "type": "readOrigins" } | { "type": "writeOrigins", 
/**
 * The fingerprint of each key, with its origins.
 */
origins: [string, unknown][], } | { "type": "get", 
/**
 * The requests, without the key.
 */
requests: Array<HttpRequest>, } | { "type": "done", 
/**
 * What it returns.
 */
result: unknown, };

export type WorkResult = { "listed": Array<FileEntry> } | "missing" | { "done": boolean } | { "received": Array<Received> } | { "texts": Array<string | null> } | { "fingerprint": { 
/**
 * The fingerprint.
 */
fingerprint: string, 
/**
 * Whether the text can be sent as a key: it has no spaces, line breaks or other characters that aren't allowed in a header.
 */
isSendable: boolean, } } | { "origins": [string, unknown][] };

export type FileEntry = { 
/**
 * Its name, without the name of the folder.
 */
name: string, 
/**
 * Its size in bytes.
 */
size: number, 
/**
 * When it was last written, in milliseconds since 1970.
 */
modifiedMs: number, };

export type WorkTask<Task> = { 
/**
 * What to do.
 */
task: Task, 
/**
 * Milliseconds since 1970.
 */
nowMs: number, 
/**
 * Random numbers, other ones for each task.
 */
random: number[], };

export type LedgerTask = "load" | "save" | "reload" | { "checkSpending": { 
/**
 * The id that the request began with.
 */
id: string, 
/**
 * The user's limits.
 */
limits: SpendLimits, } } | { "limitStates": SpendLimits } | "readRecords";

export type VaultTask = "open" | "save";

export type RequestsTask = { "vault": VaultTask } | { "recordings": RecordingTask } | { "signIn": SignInTask } | { "connections": ConnectionTask } | { "models": ListTask };

export type RecordingTask = { "keep": Recording } | "prune" | "deleteAll" | { "has": string } | { "export": { 
/**
 * The id of the request.
 */
id: string, 
/**
 * The secrets that are known.
 */
secrets: Array<string>, 
/**
 * Whether the texts of the request stay.
 */
withTexts: boolean, } };

export type SignInTask = { 
/**
 * What to do.
 */
work: SignInWork, 
/**
 * The platform, named as in Node. `None` in a browser, which has no files.
 */
platform: string | null, 
/**
 * The environment variables that say where the CLI's files are.
 */
environment: { [key in string]: string }, 
/**
 * Seconds since 1970.
 */
now: number, };

export type SignInWork = { "bearer": { 
/**
 * The origin that it will be sent to.
 */
origin: string, } } | { "ask": VercelTask } | "signOut";

export type SignInResult = { 
/**
 * The token, if it is for the origin.
 */
bearer: string | null, 
/**
 * Why there is none, although there should be.
 */
problem: Array<Message> | null, 
/**
 * What Vercel said.
 */
answer: VercelAnswer, 
/**
 * Whether there was a session before.
 */
wasSignedIn: boolean, 
/**
 * Whether the user signed in or out.
 */
changed: boolean, 
/**
 * Lines for the log.
 */
log: Array<[LogLevel, string]>, };

export type ListTask = { 
/**
 * Identifies the server and the key.
 */
connection: string, 
/**
 * The name that the user sees.
 */
label: string, 
/**
 * The address of the server.
 */
baseUrl: string, 
/**
 * Whether it is the demo, whose models aren't kept.
 */
isDemo: boolean, 
/**
 * Whether the key isn't kept yet, because it is being checked.
 */
isTrial: boolean, 
/**
 * The user's settings for models.
 */
settings: ModelSettings, 
/**
 * The user's extra headers for this server, by name.
 */
extraHeaders: { [key in string]: string }, 
/**
 * What to do.
 */
work: ListWork, };

export type ListWork = "show" | "list" | "refresh" | "check" | "credit" | { "enrich": { 
/**
 * The model's id.
 */
model: string, } } | { "learn": { 
/**
 * The model's id.
 */
model: string, 
/**
 * See [`Report::refused`](crate::Report::refused).
 */
refused: Array<Parameter>, 
/**
 * See [`Report::overflow`](crate::Report::overflow).
 */
overflow: string | null, } } | { "keyRefused": { 
/**
 * The message that explains the refusal to the user.
 */
reason: Array<Message>, } } | "forget";

export type Received = HttpResponse | { 
/**
 * Why.
 */
transport: Transport, 
/**
 * The cause, such as `ENOTFOUND`, for a log.
 */
code?: string | undefined, };

export type SpendLimits = { 
/**
 * The limits for single models, by id.
 */
models?: { [key in string]: SpendLimit }, 
/**
 * Whether a request that would pass a limit is rejected without asking the user.
 */
isHard?: boolean, 
/**
 * For one request.
 */
request?: number, 
/**
 * For one conversation.
 */
conversation?: number, 
/**
 * For one day.
 */
day?: number, 
/**
 * For one month.
 */
month?: number, };

export type SpendLimit = { 
/**
 * For one request.
 */
request?: number, 
/**
 * For one conversation.
 */
conversation?: number, 
/**
 * For one day.
 */
day?: number, 
/**
 * For one month.
 */
month?: number, };

export type Verdict = { 
/**
 * What to do.
 */
action: SpendAction, 
/**
 * The limit that it is about.
 */
limit: LimitState | null, 
/**
 * What to tell the user, sentence by sentence.
 */
text: Array<Message>, };

export type SpendAction = "go" | "warn" | "ask" | "stop";

export type LimitState = { 
/**
 * What the limit is for.
 */
period: SpendPeriod, 
/**
 * The model, if the limit is for one model.
 */
model: string | null, 
/**
 * The limit in US dollars.
 */
limit: number, 
/**
 * What is spent or reserved, without the request in question.
 */
used: number, };

export type SpendPeriod = "request" | "conversation" | "day" | "month";

export type SpendChoice = "continue" | "stop";

export type RequestRecord = { 
/**
 * The version of this format. A record with another version than [`RequestRecord::VERSION`] is not read.
 */
version: number, 
/**
 * The id of the request.
 */
id: string, 
/**
 * The conversation that it belongs to.
 */
conversation: string, 
/**
 * The earlier request that it continues, if there is one.
 */
parent: string | null, 
/**
 * What it was for.
 */
kind: RequestKind, 
/**
 * The same in a few English words: `chat title`.
 */
purpose: string, 
/**
 * The model that was asked.
 */
model: string, 
/**
 * The origin of the server. Empty for the embedded gateway.
 */
origin: string, 
/**
 * The thinking effort that was asked for, or `null` if the model decided.
 */
effort: string | null, 
/**
 * Whether the model had to call a tool.
 */
mustCall: boolean, 
/**
 * Identifies the extra fields of the body on this machine, if there were any.
 */
extraFields?: string, 
/**
 * When it began, in milliseconds since 1970.
 */
startedMs: number, 
/**
 * When things happened.
 */
timeline: Timeline, 
/**
 * What was sent, in this order. The tokens add up to the server's count, or to our estimate if there is none.
 */
pieces: Array<PieceRecord>, 
/**
 * What the server counted.
 */
usage: TokenUse, 
/**
 * What it cost, if that is known.
 */
cost: Cost | null, 
/**
 * What was expected before it was sent.
 */
forecast: Forecast | null, 
/**
 * How it used the server's prompt cache.
 */
lens: Lens | null, 
/**
 * The attempts that failed before the last one.
 */
retries: Array<Retry>, 
/**
 * Who answered.
 */
routing: Route, 
/**
 * What was ignored or repaired, and how often.
 */
notes: Array<NoteCount>, 
/**
 * How it ended.
 */
finish: Finish, };

export type Timeline = { 
/**
 * The last attempt was sent.
 */
sentMs: number | null, 
/**
 * The first byte of its response arrived.
 */
firstByteMs: number | null, 
/**
 * The first thinking arrived.
 */
firstThinkingMs: number | null, 
/**
 * The first text, image or source arrived.
 */
firstTextMs: number | null, 
/**
 * The model called tools.
 */
calls: Array<CallTime>, 
/**
 * The request was over.
 */
endMs: number, };

export type CallTime = { 
/**
 * The tool's name.
 */
name: string, 
/**
 * When the call arrived.
 */
ms: number, };

export type PieceRecord = { 
/**
 * What it is.
 */
kind: PieceKind, 
/**
 * The part of the prompt that it belongs to.
 */
group: PieceGroup, 
/**
 * The name of a tool, or the role of a message.
 */
name: string | null, 
/**
 * Identifies its content on this machine. Equal content has equal fingerprints, whichever model it was sent to.
 */
fingerprint: string, 
/**
 * Identifies its images and files, if it has any.
 */
images: string | null, 
/**
 * Identifies each line of instructions. Empty for everything else.
 */
lines?: Array<number>, 
/**
 * How many tokens it has.
 */
tokens: number, };

export type PieceKind = "frame" | "tool" | "system" | "message" | "call" | "result" | "reasoning";

export type PieceGroup = "system" | "tools" | "history" | "new";

export type TokenUse = { 
/**
 * The tokens of the request, cached ones included.
 */
input: number | null, 
/**
 * The input tokens that were read from the prompt cache.
 */
cached: number | null, 
/**
 * The input tokens that were written to the prompt cache, which some providers charge for.
 */
cacheWrite: number | null, 
/**
 * The tokens of the answer, reasoning included.
 */
output: number | null, 
/**
 * The output tokens that were reasoning.
 */
reasoning: number | null, };

export type Cost = { 
/**
 * In US dollars.
 */
usd: number, 
/**
 * Where the figure comes from.
 */
basis: CostBasis, };

export type CostBasis = "reported" | "computed" | "play";

export type Forecast = { 
/**
 * The tokens of the request.
 */
input: number, 
/**
 * The input tokens that the server is expected to read from its cache.
 */
cached: number, 
/**
 * The tokens of the answer, as this model usually answers.
 */
output: number, 
/**
 * The expected cost, if the prices are known.
 */
cost: CostRange | null, };

export type CostRange = { 
/**
 * If the answer is short.
 */
low: number, 
/**
 * What is most likely.
 */
expected: number, 
/**
 * If nothing is cached and the answer is long. This is what a limit reserves.
 */
high: number, };

export type Lens = { 
/**
 * The earlier request.
 */
comparedWith: string, 
/**
 * How many tokens at the beginning of the prompt are the same as in that request.
 */
same: number, 
/**
 * How many tokens that request had: the most that `same` could be.
 */
before: number, 
/**
 * How many tokens the server read from its cache, if it says so.
 */
cached: number | null, 
/**
 * What differs first, if the prompt doesn't begin with all of that request; or why the server may have read less
 * from its cache than it could have.
 */
cause: CacheBreak | null, 
/**
 * The index of the piece that differs first, in this request's pieces, or after the last one.
 */
piece: number | null, 
/**
 * The name of the tool, or the role of the message, that differs first.
 */
name: string | null, 
/**
 * The line of the instructions that differs first, counted from 1.
 */
line: number | null, 
/**
 * How many tokens had to be read again.
 */
lost: number, 
/**
 * What that cost, if the prices are known.
 */
extra: number | null, 
/**
 * The same for people, sentence by sentence.
 */
text: Array<Message>, };

export type CacheBreak = "model" | "server" | "toolAdded" | "toolRemoved" | "toolsReordered" | "toolChanged" | "systemAdded" | "systemRemoved" | "systemLine" | "thinkingMissing" | "thinkingAdded" | "thinkingChanged" | "imageChanged" | "messageChanged" | "callChanged" | "resultChanged" | "historyInserted" | "historyRemoved" | "historyReordered" | "effort" | "toolChoice" | "options" | "provider" | "expired" | "tooShort" | "notReported" | "unknown";

export type Retry = { 
/**
 * When it had failed, in milliseconds from the start of the request.
 */
ms: number, 
/**
 * Why it failed.
 */
why: FailureKind, };

export type Route = { 
/**
 * The model that answered.
 */
model: string | null, 
/**
 * The provider that answered.
 */
provider: string | null, 
/**
 * The providers that the gateway tried, in this order.
 */
tried: Array<string>, 
/**
 * The id under which the gateway lists the request.
 */
generationId: string | null, };

export type NoteCount = { 
/**
 * The kind.
 */
kind: NoteKind, 
/**
 * How many there were.
 */
count: number, };

export type Finish = { 
/**
 * How the answer ended.
 */
status: Status, 
/**
 * Why it is incomplete, in the protocol's terms.
 */
reason: string | null, 
/**
 * Why it failed.
 */
failure: FailureKind | null, };

export type Recording = { 
/**
 * The version of this format.
 */
version: number, 
/**
 * The same without any text.
 */
record: RequestRecord, 
/**
 * The address that the request went to.
 */
url: string, 
/**
 * The body of the request.
 */
request: unknown, 
/**
 * The chat that the request was made from. It can be asked again.
 */
chat: unknown, 
/**
 * The HTTP status of the response, or `null` if there was none.
 */
status: number | null, 
/**
 * The body of the response.
 */
response: string, };

export type RecordsQuestion = { "tree": Record<symbol, never> } | { "request": string } | { "compare": [string, string] };

export type TreeRow = { 
/**
 * Identifies the row.
 */
id: string, 
/**
 * The request that it shows, or `null` if it sums up those below it.
 */
request: string | null, 
/**
 * What it is.
 */
kind: TreeKind, 
/**
 * How deep it is in the tree, from 0.
 */
depth: number, 
/**
 * When it began, in milliseconds since 1970.
 */
startedMs: number, 
/**
 * What it is called.
 */
title: Message, 
/**
 * What it used, to be joined.
 */
details: Array<Message>, 
/**
 * How it ended. Sums show the worst ending below them.
 */
status: Status, };

export type TreeKind = "conversation" | "others" | "turn" | "round" | "subAgent" | "summary" | "utility" | "inline";

export type RequestDetail = { 
/**
 * The id of the request.
 */
id: string, 
/**
 * What it is called.
 */
title: Message, 
/**
 * When it began, in milliseconds since 1970.
 */
startedMs: number, 
/**
 * How it ended.
 */
status: Status, 
/**
 * Model, tokens, cost and so on. Values are to be joined with a comma.
 */
facts: Array<TooltipLine>, 
/**
 * What was expected and what came.
 */
forecast: Array<Expected>, 
/**
 * How it used the prompt cache, in sentences.
 */
cache: Array<Message>, 
/**
 * What it did with its time, in this order and without gaps.
 */
phases: Array<Phase>, 
/**
 * When the model called which tool.
 */
calls: Array<Phase>, 
/**
 * The tokens by group.
 */
groups: Array<GroupTokens>, 
/**
 * What was sent, in this order.
 */
pieces: Array<PieceRow>, 
/**
 * The other requests of its conversation, the newest first, that it can be compared with.
 */
others: Array<OtherRequest>, 
/**
 * The request that it continues, if it is known.
 */
continues: string | null, };

export type Expected = { 
/**
 * What it is.
 */
label: Message, 
/**
 * What was expected.
 */
expected: Message, 
/**
 * What it was.
 */
actual: Message | null, };

export type Phase = { 
/**
 * What happened.
 */
label: Message, 
/**
 * How long it took, or when it was.
 */
time: Message, 
/**
 * When it began, in milliseconds from the start of the request.
 */
fromMs: number, 
/**
 * When it ended.
 */
toMs: number, };

export type GroupTokens = { 
/**
 * Which group it is.
 */
group: PieceGroup, 
/**
 * What it is called.
 */
label: Message, 
/**
 * Its tokens.
 */
tokens: number, 
/**
 * How many of them the server read from its cache, as far as it said so.
 */
cached: number, 
/**
 * The same in words.
 */
text: Array<Message>, };

export type PieceRow = { 
/**
 * What it is.
 */
title: Message, 
/**
 * The group that it belongs to.
 */
group: PieceGroup, 
/**
 * How many tokens it has.
 */
tokens: Message, 
/**
 * Whether the server read all of it from its cache.
 */
isCached: boolean, };

export type OtherRequest = { 
/**
 * The id of the request.
 */
id: string, 
/**
 * What it is called.
 */
title: Message, 
/**
 * When it began, in milliseconds since 1970.
 */
startedMs: number, };

export type Comparison = { 
/**
 * What is the same and what differs, in sentences.
 */
summary: Array<Message>, 
/**
 * The pieces in the order of the newer request. Removed ones are where they were.
 */
rows: Array<ComparedRow>, };

export type ComparedRow = { 
/**
 * What happened to it.
 */
change: Change, 
/**
 * What it is; for pieces that stayed the same, how many there are.
 */
title: Message, 
/**
 * How many tokens it had in the older request.
 */
before: Message | null, 
/**
 * How many tokens it has in the newer request.
 */
after: Message | null, };

export type Change = "same" | "added" | "removed" | "changed";

export type VercelTask = "teams" | { "projects": string | null } | { "signIn": VercelChoice } | { "renew": string };

export type VercelTeam = { 
/**
 * `None` for the user's personal account.
 */
id: string | null, 
/**
 * The name that people know it by.
 */
name: string, 
/**
 * Its name in addresses, or nothing if that is the same.
 */
slug: string, 
/**
 * Whether the CLI uses this one.
 */
isCurrent: boolean, };

export type VercelProject = { 
/**
 * What Vercel's API calls it.
 */
id: string, 
/**
 * The name that people know it by.
 */
name: string, };

export type VercelChoice = { 
/**
 * The origin that the token is for.
 */
origin: string, 
/**
 * The endpoint at that origin.
 */
baseUrl: string, 
/**
 * The team, or the personal account.
 */
teamId: string | null, 
/**
 * The name of the team, for the user.
 */
teamName: string, 
/**
 * The project.
 */
projectId: string, 
/**
 * The name of the project, for the user.
 */
projectName: string, };

export type VercelSession = { 
/**
 * The team and the project, for the user.
 */
label: string, 
/**
 * The only origin that the token may be sent to.
 */
origin: string, 
/**
 * Equal for two sessions if and only if they have the same endpoint and project.
 */
identity: string, 
/**
 * The token for the gateway.
 */
token: string, 
/**
 * Whether the token can be used.
 */
state: TokenState, };

export type NewSession = { 
/**
 * What to store. [`vercel_session`] reads it.
 */
stored: string, 
/**
 * The token in it.
 */
token: string, };

export type TokenState = "valid" | "expiresSoon" | "expired";

export type ProbeOptions = { 
/**
 * The server's base URL.
 */
baseUrl: string, 
/**
 * The model to ask. Without it, the list of models decides.
 */
model?: string, 
/**
 * The user's settings for models, which may name a default.
 */
settings?: ModelSettings, 
/**
 * Whether the shell has a key for this server.
 */
hasKey: boolean, 
/**
 * The proxy that the shell uses for this server, if it knows one.
 */
proxy?: string, 
/**
 * Seconds since 1970.
 */
now: number, };

export type ProbeStep = { "type": "get", 
/**
 * What is being tested, for the user.
 */
label: Message, 
/**
 * The request, without the key.
 */
request: HttpRequest, 
/**
 * Whether the key is sent.
 */
withKey: boolean, } | { "type": "ask", 
/**
 * What is being tested, for the user.
 */
label: Message, 
/**
 * What to send.
 */
chat: ChatRequest, 
/**
 * Whether to cancel the answer at its first part.
 */
stopsEarly: boolean, } | { "type": "done" } & Card;

export type ProbeEvent = { "received": HttpResponse } | { "unreachable": [Transport, string | null] } | { "answered": ProbeAnswer };

export type ProbeAnswer = { 
/**
 * How the answer ended.
 */
status: Status, 
/**
 * What the ledger learns from it.
 */
entry: unknown, 
/**
 * Why it failed.
 */
failure?: ProbeFailure, 
/**
 * How many parts that aren't empty the shell got.
 */
parts: number, 
/**
 * Whether the model's reasoning was shown.
 */
isThinkingShown: boolean, 
/**
 * See [`Report::refused`](crate::Report::refused).
 */
refused: Array<Parameter>, 
/**
 * See [`Report::reasoning_refused`](crate::Report::reasoning_refused).
 */
isReasoningRefused: boolean, 
/**
 * The base URL that answered, if it isn't the one that is tested. See [`Report::elsewhere`](crate::Report::elsewhere).
 */
elsewhere?: string, 
/**
 * How long it took, in milliseconds.
 */
milliseconds: number, };

export type ProbeFailure = { 
/**
 * See [`Failure::kind`](crate::Failure::kind).
 */
kind: FailureKind, 
/**
 * See [`Failure::message`](crate::Failure::message).
 */
message: string, 
/**
 * See [`Failure::text`](crate::Failure::text), in the user's language.
 */
text: string, 
/**
 * The HTTP status.
 */
status?: number, };

export type Card = { 
/**
 * The address that was tested.
 */
baseUrl: string, 
/**
 * The model that was asked, if the test got that far.
 */
model: string | null, 
/**
 * What was checked, in order.
 */
checks: Array<Check>, 
/**
 * What Sluice does differently because of it. Each entry is one paragraph.
 */
differences: Array<Message>, 
/**
 * How many requests were sent, retries not included.
 */
requests: number, 
/**
 * How many tokens the server counted.
 */
tokens: number, 
/**
 * Parameters that the server refused in requests to the model. Remember them for this model.
 */
refused: Array<Parameter>, 
/**
 * The error message that revealed the model's limits. Remember it for this model.
 */
overflow: string | null, };

export type Check = { 
/**
 * What was checked.
 */
topic: Topic, 
/**
 * The same for people.
 */
label: Message, 
/**
 * The result of the check.
 */
result: CheckResult, 
/**
 * The details, sentence by sentence.
 */
detail: Array<Message>, 
/**
 * The case of the official compliance suite that asks the same.
 */
compliance: string | null, };

export type CheckResult = "works" | "absent" | "failed" | "unknown";

export type Topic = "address" | "encryption" | "proxy" | "models" | "key" | "answer" | "instructions" | "turns" | "images" | "streaming" | "usage" | "cut" | "tools" | "parallelCalls" | "toolResults" | "toolImages" | "summaries" | "plainReasoning" | "encryptedReasoning" | "reasoningBack" | "phase" | "caching" | "limits" | "cancellation" | "errors";

export type RequestsQuestion = { "setLanguage": Language } | { "parseEndpoint": string } | { "round": RoundEvent } | { "openVault": { 
/**
 * The contents.
 */
file: string, 
/**
 * Milliseconds since 1970.
 */
nowMs: number, } } | { "remember": { 
/**
 * What the ledger learns from the answer.
 */
entry: unknown, 
/**
 * The question of the [`PreparedRequest`].
 */
question: QuestionId, 
/**
 * The chat whose reasoning the server refused.
 */
refused?: ChatRequest, 
/**
 * Milliseconds since 1970.
 */
nowMs: number, } } | { "saveVault": Record<symbol, never> } | { "clearVault": { 
/**
 * Milliseconds since 1970.
 */
nowMs: number, } } | { "leaveOut": { 
/**
 * The body as it was built.
 */
body: string, 
/**
 * What to remove from it.
 */
parameters: Array<Parameter>, } } | { "bodyRule": { 
/**
 * The HTTP status.
 */
status: number, } } | { "estimateText": { 
/**
 * The model that decides how text is split.
 */
model: string, 
/**
 * The text to count.
 */
text: string, } } | { "estimateMessage": { 
/**
 * The model that decides how text is split.
 */
model: string, 
/**
 * The message to count.
 */
message: ChatMessage, } } | { "readSettings": { 
/**
 * What VS Code has under `sluice`.
 */
values: object, 
/**
 * The environment variables that the settings name.
 */
environment: { [key in string]: string }, } } | { "vercelSession": { 
/**
 * What the shell has stored.
 */
stored: string, 
/**
 * Seconds since 1970.
 */
now: number, } } | { "startProbe": ProbeOptions } | { "continueProbe": ProbeEvent } | { "announceProbe": Record<symbol, never> } | { "showCard": { 
/**
 * The result of the test.
 */
card: Card, 
/**
 * The name of the connection.
 */
label: string, 
/**
 * The first line of the text.
 */
title: string, 
/**
 * The nonce of the page's style sheet.
 */
nonce: string, 
/**
 * The secrets that are known.
 */
secrets: Array<string>, } } | { "reader": { 
/**
 * VS Code's name.
 */
initiator: string, 
/**
 * Whether the Chat view shows text as soon as it has it.
 */
isIncremental: boolean, } } | { "showRejection": RejectedAnswer } | { "showStatus": StatusBarFacts } | { "report": ReportFacts } | { "settingsSchema": Array<string> } | { "startDialog": Dialog } | { "continueDialog": unknown } | { "logOutcome": { 
/**
 * The model that was asked.
 */
model: string, 
/**
 * How the request ended.
 */
outcome: LoggedOutcome, 
/**
 * The message that the user sees, if it failed.
 */
message?: string, 
/**
 * When the request is sent again, if it is.
 */
retryMs?: number, } } | { "loggedModel": string } | { "redact": { 
/**
 * The secrets that are known.
 */
secrets: Array<string>, 
/**
 * The text to mask.
 */
text: string, } } | { "mask": { 
/**
 * The secrets that are known.
 */
secrets: Array<string>, 
/**
 * The value to mask.
 */
value: unknown, } };

export type PreparedRequest = { 
/**
 * The origin that it is sent to. A key belongs to one origin.
 */
origin: string, 
/**
 * The base URL that it is sent to.
 */
baseUrl: string, 
/**
 * The model that is asked.
 */
model: string, 
/**
 * Identifies the question, for the vault.
 */
question: QuestionId, 
/**
 * What to send.
 */
request: HttpRequest, 
/**
 * The tool names that were sent, with VS Code's names for them.
 */
toolNames: { [sent: string]: string }, 
/**
 * The id of the conversation, if the caller, VS Code or a marker named it.
 */
conversationId: string | null, 
/**
 * The text of a `stateful_marker` part to add to the answer. The next request recognizes the conversation by it.
 */
marker: string | null, 
/**
 * What the request is for.
 */
kind: RequestKind, 
/**
 * What the request is for and how much the model should think, for a log.
 */
description: string, 
/**
 * The parameters that can be left out if the server refuses them by name.
 */
optional: Array<Parameter>, 
/**
 * Notes about everything that was left out or repaired.
 */
notes: Array<Note>, };

export type CatalogView = { 
/**
 * The models to offer, after [`ListWork::List`](crate::ListWork::List).
 */
models: Array<ListedModel>, 
/**
 * Why there are none.
 */
problem: Array<Message> | null, 
/**
 * How old the list is.
 */
state: ListState, 
/**
 * What a dialog needs to know about it.
 */
check: ServerCheck, 
/**
 * How much credit is left, if that was asked and the server says so.
 */
credit: Message | null, 
/**
 * Whether the models changed.
 */
changed: boolean, 
/**
 * For how long the models need not be listed again, unless they change or the settings do.
 */
freshForMs: number, 
/**
 * Whether the list has to be refreshed. There is no need to wait for that.
 */
mustRefresh: boolean, 
/**
 * What to tell the user, because the server has refused the key.
 */
tell: Array<Message> | null, 
/**
 * Lines for the log.
 */
log: Array<[LogLevel, string]>, };

export type LogLevel = "trace" | "debug" | "info" | "warn" | "error";

export type TokensQuestion = { "begin": { 
/**
 * Any id that no other open request has.
 */
id: string, 
/**
 * The conversation that the request belongs to.
 */
conversation: string, 
/**
 * What is sent.
 */
chat: ChatRequest, 
/**
 * What the ledger needs to know about the model.
 */
model: LedgerModel, 
/**
 * Milliseconds since 1970, of a clock that isn't set back.
 */
now: number, } } | { "end": { 
/**
 * The id that the request began with.
 */
id: string, 
/**
 * What the exchange reported.
 */
entry: unknown, 
/**
 * Milliseconds of the same clock.
 */
now: number, 
/**
 * Days since 1970.
 */
today: number, } } | { "chooseSpending": { 
/**
 * The id that the request began with.
 */
id: string, 
/**
 * What the user decided.
 */
choice: SpendChoice, 
/**
 * The limit of the verdict.
 */
limit: LimitState | null, } } | { "history": HistoryPeriod } | { "records": RecordsQuestion } | { "message": { 
/**
 * The model, whose tokenizer is used.
 */
model: string, 
/**
 * The origin of the server, whose correction factor is used.
 */
origin: string, 
/**
 * The message to count.
 */
message: ChatMessage, } };

export type HistoryPeriod = "day" | "month";

export type HistoryRow = { 
/**
 * The day (`2026-03-01`) or the month (`2026-03`).
 */
when: string, 
/**
 * The model's id.
 */
model: string, 
/**
 * What all requests in that time used.
 */
totals: Totals, 
/**
 * The same for the user, to be joined.
 */
details: Array<Message>, 
/**
 * Its tokens as a share of those of the busiest row, from 0 to 1.
 */
share: number, };

/** The rest of a longer response isn't recorded. */
export const MAX_RECORDED_RESPONSE = 16777216;

/** The environment variables that can have a key, in order of preference. */
export const KEY_VARIABLES = ["SLUICE_API_KEY","AI_GATEWAY_API_KEY","VERCEL_OIDC_TOKEN"] as const;

/** The address of the gateway inside an editor, to which nothing is sent. */
export const DEMO_BASE_URL = "https://demo.invalid/v1";
