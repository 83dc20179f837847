// Generated from crates/sluice-core/src/boundary by `UPDATE_EXPECT=1 cargo test -p sluice-core typescript`.

import type { MessageCode } from "./messages.js";

export type Part = { "type": "text", value: string, } | { "type": "thinking", value: string, id: string, 
/**
 * What the next request must send back. Only set on the last thinking part, which is empty.
 */
replay?: ThinkingReplay, } | { "type": "toolCall", callId: string, name: string, inputJson: string, } | { "type": "data", mimeType: string, base64: string, } | { "type": "citations", citations: Array<Citation>, markdown: string, };

export type ThinkingReplay = { 
/**
 * The model that produced it. The content is useless to any other model.
 */
model: string | null, items: Array<ReasoningItem>, };

export type ReasoningItem = { id: string | null, encrypted_content: string, };

export type Citation = { 
/**
 * The address of the web page. Documents have none.
 */
url?: string, title?: string, 
/**
 * The provider's id for the source.
 */
sourceId?: string, mediaType?: string, filename?: string, };

export type Note = { kind: NoteKind, 
/**
 * Protocol terms only: an event type, an item type, a tool's name; or the text in English.
 */
detail: string, 
/**
 * What to tell the user, sentence by sentence. Empty if the note is for logs only.
 */
text?: Array<Message>, };

export type NoteKind = "event" | "unknownEvent" | "ignoredItem" | "ignoredContent" | "malformed" | "typeMismatch" | "sequence" | "textMismatch" | "orphanArguments" | "droppedCall" | "repeatedCall" | "leftover" | "moreNotes" | "leftOut" | "repaired" | "ranElsewhere" | "takenBack" | "modelList" | "setting";

export type Outcome = { status: Status, 
/**
 * Why an answer is incomplete, in the protocol's terms, or what cut a truncated answer off.
 */
reason: string | null, error: Failure | null, 
/**
 * Why there is nothing to show, if there is no text, no tool call and no image.
 */
empty: Empty | null, responseId: string | null, model: string | null, 
/**
 * What the server counted. `None` if it reported nothing; never zero instead.
 */
usage: Usage | null, gateway: Gateway | null, 
/**
 * Whether the request can be repeated without repeating text or running a tool twice.
 */
retrySafe: boolean, };

export type Status = "completed" | "incomplete" | "failed" | "truncated" | "cancelled";

export type Empty = "thinkingOnly" | "filtered" | "length" | "nothing";

export type Failure = { kind: FailureKind, 
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
 * All there is to tell the user, sentence by sentence: what happened, when to come back, what to do.
 */
text: Array<Message>, status: number | null, requestId: string | null, generationId: string | null, overflow: Overflow | null, 
/**
 * Whether the same request may succeed a moment later.
 */
mayRetry: boolean, retryAfterMs: number | null, };

export type FailureKind = "signIn" | "forbidden" | "noCredit" | "modelNotFound" | "contextOverflow" | "badRequest" | "rateLimited" | "serverDown" | "notAStream" | "network" | "server" | "toolCall" | "tooLarge";

export type LoggedOutcome = { status: Status, reason: string | null, error: LoggedFailure | null, empty: Empty | null, usage: Usage | null, };

export type LoggedFailure = { kind: FailureKind, code: string | null, status: number | null, };

export type Overflow = { askedTokens: number | null, limitTokens: number | null, };

export type Usage = { input_tokens: number | null, output_tokens: number | null, total_tokens: number | null, input_tokens_details: TokenDetails | null, output_tokens_details: TokenDetails | null, };

export type TokenDetails = { [name: string]: unknown };

export type Gateway = { generationId: string | null, 
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

export type ChatRequest = { model: string, messages: Array<ChatMessage>, tools?: Array<ToolDefinition>, toolMode?: ToolMode, 
/**
 * The one tool that must be called, if `tool_mode` is `required`.
 */
requiredTool?: string, options?: ChatOptions, };

export type ChatMessage = { role: Role, content: Array<ChatPart>, };

export type Role = "user" | "assistant" | "system";

export type ChatPart = { "type": "text", value: string, } | { "type": "thinking", replay?: ThinkingReplay, } | { "type": "toolCall", callId: string, name: string, inputJson: string, } | { "type": "toolResult", callId: string, content: Array<ChatPart>, isError?: boolean, } | { "type": "data", mimeType: string, base64: string, };

export type ToolDefinition = { name: string, description?: string, 
/**
 * A JSON schema. Tools without arguments have none.
 */
inputSchema: unknown, };

export type ToolMode = "auto" | "required" | "none";

export type ChatOptions = { maxOutputTokens?: number, temperature?: number, topP?: number, 
/**
 * One of the values that the model offers: `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`.
 */
reasoningEffort?: string, 
/**
 * `auto`, `concise` or `detailed`.
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
automaticCaching?: boolean, routing?: Routing, 
/**
 * Lets Claude models drop old tool results on their own.
 */
claudeContextManagement?: boolean, 
/**
 * The caller's own model options. A key that names an option above sets that option. Keys that start with `_` are
 * VS Code's and are never sent.
 */
extraBody: { [name: string]: unknown }, extraHeaders?: { [key in string]: string }, };

export type Routing = { order?: Array<string>, only?: Array<string>, 
/**
 * Models to fall back to.
 */
models?: Array<string>, 
/**
 * `cost`, `ttft` or `tps`.
 */
sort?: string, };

export type HttpRequest = { method: string, url: string, headers: Array<[string, string]>, body: string, };

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
 * Whether it is Vercel's gateway.
 */
isVercel: boolean, };

export type HttpResponse = { status: number, headers: Array<[string, string]>, 
/**
 * The body, of which an error needs at most the first 64 KiB.
 */
body: string, };

export type Transport = "connect" | "headersTimeout" | "broken" | "idle" | "redirect" | "tooLarge";

export type ExchangeOptions = { 
/**
 * The endpoint's origin, for messages about the connection.
 */
origin?: string, 
/**
 * How the answer is read.
 */
stream?: StreamOptions, dialect?: Dialect, 
/**
 * The longest wait for the head of a response, in milliseconds.
 */
headTimeoutMs?: number, 
/**
 * The longest silence in the middle of a body, in milliseconds.
 */
idleTimeoutMs?: number, 
/**
 * The longest wait for the next output of a stream, in milliseconds, so that a server can't keep a request alive
 * with comments alone. A whole response must arrive within the same time.
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

export type Dialect = "openResponses" | "aiSdk";

export type Parameter = "caching" | "include" | "maxOutputTokens" | "promptCacheKey" | "providerOptions" | "reasoningEffort" | "reasoningSummary" | "store";

export type Action = { "type": "send", timeoutMs: number, without: Array<Parameter>, } | { "type": "read", timeoutMs: number, } | { "type": "wait", timeoutMs: number, failure: Failure, attempt: number, } | { "type": "end" } & Report;

export type Report = { outcome: Outcome, 
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
kind: FailureKind | null, };

export type Drain = { timeoutMs: number, maxBytes: number, };

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
others: Array<OtherModel>, notes: Array<Note>, };

export type ChatModel = { id: string, name: string, 
/**
 * The model family without creator, date or stage: `claude-sonnet-4.5`, `gpt-5.2`, `gemini-3-pro`.
 */
family: string, 
/**
 * The release date in the id (`20250929`), or else the number in the family (`4.5`), or else `latest`.
 */
version: string, maxInputTokens: number, maxOutputTokens: number, 
/**
 * The sum of the two limits above.
 */
contextWindow: number, limitsFrom: LimitsFrom, capabilities: ModelCapabilities, 
/**
 * A short text to show next to the name.
 */
detail: string, 
/**
 * A longer description in Markdown.
 */
tooltip: string, 
/**
 * For example `$3 / $15 per M tokens, cached $0.30`. Absent if the server publishes no prices.
 */
pricing: string | null, prices: Prices | null, effort: EffortChoices | null, isUserSelectable: boolean, isFavourite: boolean, isDefault: boolean, creator: string, description: string | null, 
/**
 * The release time in seconds since 1970.
 */
released: number | null, deprecatedAt: number | null, 
/**
 * The date up to which the training data reaches.
 */
knowledge: string | null, tags: Array<string>, regions: Array<string>, parameters: Array<string>, 
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
refused: Array<Parameter>, };

export type LimitsFrom = "assumed" | "list" | "providers" | "learned" | "setting";

export type ModelCapabilities = { toolCalling: boolean, 
/**
 * Whether `tool_calling` is assumed, because the server said nothing about tools.
 */
toolCallingAssumed: boolean, imageInput: boolean, fileInput: boolean, imageOutput: boolean, thinking: boolean, webSearch: boolean, structuredOutput: boolean, promptCaching: boolean, };

export type EffortChoices = { values: Array<string>, 
/**
 * One of `values`.
 */
default: string, };

export type Prices = { input: number | null, output: number | null, 
/**
 * The price of input that was in the provider's prompt cache.
 */
cachedInput: number | null, cacheWrite: number | null, 
/**
 * Different prices for long requests, in order of length.
 */
tiers: Array<PriceTier>, };

export type PriceTier = { fromInputTokens: number, input: number | null, output: number | null, cachedInput: number | null, cacheWrite: number | null, };

export type ModelProvider = { name: string, 
/**
 * Whether it is serving requests, as far as the gateway knows.
 */
isActive: boolean, contextWindow: number | null, maxOutputTokens: number | null, maxInputTokens: number | null, pricing: string | null, prices: Prices | null, quantization: string | null, 
/**
 * In per cent.
 */
uptime: number | null, 
/**
 * The median time to the first token.
 */
latencyMs: number | null, tokensPerSecond: number | null, };

export type OtherModel = { id: string, name: string, 
/**
 * `embedding`, `image` and so on, or `hidden`.
 */
kind: string, pricing: string | null, prices: Prices | null, };

export type ModelSettings = { hide?: Array<string>, favourites?: Array<string>, 
/**
 * The default is the first model that matches the first pattern that has a match.
 */
default?: Array<string>, 
/**
 * The last match wins here too, field by field.
 */
limits?: Array<LimitSetting>, };

export type LimitSetting = { 
/**
 * The pattern of the models that these limits apply to.
 */
model: string, contextWindow?: number, maxInputTokens?: number, maxOutputTokens?: number, };

export type Settings = { baseUrl?: string, models?: ModelSettings, extraHeaders?: { [key in string]: string }, extraBody?: { [name: string]: unknown }, };

export type SettingProblem = { setting: SettingKind, 
/**
 * What is wrong and what to do about it. Values of headers are never part of it.
 */
message: Message, };

export type SettingKind = "baseUrl" | "hide" | "favourites" | "default" | "limits" | "extraHeaders" | "extraBody";

export type ListState = "fresh" | "stale" | "missing";

export type KeyCheck = { state: KeyState, 
/**
 * The same for the user, sentence by sentence.
 */
text: Array<Message>, };

export type KeyState = "accepted" | "refused" | "unknown";

export type Estimate = { tokens: number, 
/**
 * How many of them a server has counted: all of them, if this exact request was answered before.
 */
known: number, };

export type FileState = "good" | "missing" | "damaged" | "newer";

export type RequestKind = "main" | "subAgent" | "summary" | "utility";

export type RequestUsage = { id: string, conversation: string, model: string, kind: RequestKind, isAnswered: boolean, estimate: number | null, inputTokens: number | null, cachedTokens: number | null, outputTokens: number | null, reasoningTokens: number | null, 
/**
 * In US dollars.
 */
cost: number | null, firstPartMs: number | null, totalMs: number, 
/**
 * The speed while the answer was streaming.
 */
tokensPerSecond: number | null, };

export type Totals = { requests: number, 
/**
 * How many of them the server didn't count. Their tokens are missing here.
 */
uncounted: number, 
/**
 * How many of them were counted but have no known cost.
 */
unpriced: number, inputTokens: number, cachedTokens: number, outputTokens: number, reasoningTokens: number, 
/**
 * In US dollars.
 */
cost: number, 
/**
 * The number of requests that returned a part. `first_part_ms` is the sum over these.
 */
firstParts: number, firstPartMs: number, 
/**
 * The tokens of the requests whose speed is known. `streaming_ms` is the sum over these.
 */
streamedTokens: number, streamingMs: number, };

export type StatusLine = { 
/**
 * For example `52.0k/128k · 41 %`, preceded by `~` while it is an estimate. Join with ` · `.
 */
text: Array<Message>, level: Level, activity: Activity, tooltip: Array<TooltipLine>, };

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

export type Preflight = { level: Level, message: Message, };

export type Message = { 
/**
 * Which sentence it is.
 */
code: MessageCode, 
/**
 * What replaces `{0}`, `{1}` and so on.
 */
args: Array<string>, };

export type LedgerModel = { 
/**
 * The model's family, see [`ChatModel::family`](crate::ChatModel::family). Correction factors are learned for each
 * family.
 */
family: string, maxInputTokens?: number, prices?: Prices, };

export type Begun = { estimate: Estimate, kind: RequestKind, 
/**
 * A warning for the user before the request is sent.
 */
warning: Preflight | null, status: StatusLine | null, };

export type Ended = { used: RequestUsage, status: StatusLine | null, 
/**
 * The sums of its conversation.
 */
conversation: Totals | null, };

export type RequestsQuestion = { "parseEndpoint": string } | { "buildRequest": { chat: ChatRequest, baseUrl: string, 
/**
 * Parameters to leave out.
 */
without?: Array<Parameter>, } } | { "leaveOut": { body: string, parameters: Array<Parameter>, } } | { "explainResponse": { response: HttpResponse, 
/**
 * Seconds since 1970.
 */
now: number, } } | { "explainTransport": { transport: Transport, origin: string, 
/**
 * The code of the cause, such as `ENOTFOUND`.
 */
code?: string, } } | { "catalog": CatalogQuestion } | { "estimateText": { model: string, text: string, } } | { "estimateMessage": { model: string, message: ChatMessage, } } | { "checkSettings": Settings } | { "checkKey": { response: HttpResponse, 
/**
 * Seconds since 1970.
 */
now: number, } } | { "describeOutcome": { model: string, outcome: LoggedOutcome, } } | { "loggedModel": string } | { "redact": { secrets: Array<string>, text: string, } } | { "mask": { secrets: Array<string>, value: unknown, } };

export type PreparedRequest = { request: HttpRequest, 
/**
 * The origin that it is sent to. A key belongs to one origin.
 */
origin: string, 
/**
 * The tool names that were sent, with VS Code's names for them.
 */
toolNames: { [sent: string]: string }, conversationId: string | null, 
/**
 * The text of a `stateful_marker` part to add to the answer.
 */
marker: string | null, kind: RequestKind, 
/**
 * The parameters that can be left out if the server refuses them.
 */
optional: Array<Parameter>, notes: Array<Note>, };

export type CatalogQuestion = { baseUrl: string, 
/**
 * The snapshot from the last answer.
 */
snapshot?: string, settings: ModelSettings, 
/**
 * Seconds since 1970.
 */
now: number, event?: CatalogEvent, 
/**
 * A model whose providers are of interest.
 */
about?: string, };

export type CatalogEvent = { "listReceived": HttpResponse } | { "listFailed": Transport } | { "endpointsReceived": [string, HttpResponse] } | { "overflowed": [string, string] } | { "refused": [string, Array<Parameter>] };

export type CatalogView = { models: Array<ChatModel>, others: Array<OtherModel>, state: ListState, listRequest: HttpRequest, 
/**
 * The request that shows whether a key is valid.
 */
creditsRequest: HttpRequest, 
/**
 * The request for the providers of the model in question; `None` if they are known well enough.
 */
endpointsRequest: HttpRequest | null, changed: boolean, notes: Array<Note>, snapshot: string, };

export type TokensQuestion = { "begin": { id: string, conversation: string, chat: ChatRequest, model: LedgerModel, now: number, } } | { "part": { id: string, isThinking: boolean, now: number, } } | { "end": { id: string, entry: unknown, now: number, 
/**
 * Days since 1970.
 */
today: number, } } | { "history": HistoryPeriod } | { "message": { model: string, family: string, message: ChatMessage, } };

export type HistoryPeriod = "day" | "month";

export type HistoryRow = { when: string, model: string, totals: Totals, tokensPerSecond: number | null, };
