// Generated from crates/sluice-core/src/boundary by `UPDATE_EXPECT=1 cargo test -p sluice-core typescript`.

export type Part = { "type": "text", value: string, } | { "type": "thinking", value: string, id: string, 
/**
 * On the last, empty thinking part only: what the next request must send back.
 */
replay?: ThinkingReplay, } | { "type": "toolCall", callId: string, name: string, inputJson: string, } | { "type": "data", mimeType: string, base64: string, } | { "type": "citations", citations: Array<Citation>, markdown: string, };

export type ThinkingReplay = { 
/**
 * The model that made it; to any other the content is noise.
 */
model: string | null, items: Array<ReasoningItem>, };

export type ReasoningItem = { id: string | null, encrypted_content: string, };

export type Citation = { url: string, title: string, };

export type Note = { kind: NoteKind, 
/**
 * Protocol words only: an event type, an item type, a tool's name.
 */
detail: string, };

export type NoteKind = "event" | "unknownEvent" | "ignoredItem" | "ignoredContent" | "malformed" | "typeMismatch" | "sequence" | "textMismatch" | "orphanArguments" | "droppedCall" | "repeatedCall" | "leftover" | "leftOut" | "repaired" | "ranElsewhere" | "takenBack" | "modelList" | "setting";

export type Outcome = { status: Status, 
/**
 * The protocol's word for why an answer is incomplete, or what cut a truncated one off.
 */
reason: string | null, error: Failure | null, 
/**
 * Why there is nothing to show, when there is neither text nor a tool call nor an image.
 */
empty: Empty | null, responseId: string | null, model: string | null, 
/**
 * What the server counted. `None` when it said nothing; never zero in its place.
 */
usage: Usage | null, gateway: Gateway | null, 
/**
 * Whether asking again can neither repeat text nor run a tool twice.
 */
retrySafe: boolean, };

export type Status = "completed" | "incomplete" | "failed" | "truncated" | "cancelled";

export type Empty = "thinkingOnly" | "filtered" | "length" | "nothing";

export type Failure = { kind: FailureKind, 
/**
 * Short, one line, without markup and without secrets.
 */
message: string, 
/**
 * The server's own code or error type.
 */
code: string | null, 
/**
 * The tool whose call could not be used.
 */
tool: string | null, 
/**
 * Who can do something about it.
 */
turn: Turn, 
/**
 * What that is.
 */
next: string, status: number | null, requestId: string | null, generationId: string | null, overflow: Overflow | null, 
/**
 * Whether the same request may succeed a moment later.
 */
mayRetry: boolean, retryAfterMs: number | null, };

export type FailureKind = "signIn" | "forbidden" | "noCredit" | "modelNotFound" | "contextOverflow" | "badRequest" | "rateLimited" | "serverDown" | "notAStream" | "network" | "server" | "toolCall" | "tooLarge";

export type Turn = "user" | "quota" | "server" | "network";

export type Overflow = { askedTokens: number | null, limitTokens: number | null, };

export type Usage = { input_tokens: number | null, output_tokens: number | null, total_tokens: number | null, input_tokens_details: TokenDetails | null, output_tokens_details: TokenDetails | null, };

export type TokenDetails = { [name: string]: unknown };

export type Gateway = { generationId: string | null, 
/**
 * US dollars, as the gateway wrote it: a decimal string or a number.
 */
cost: string | null, 
/**
 * The provider that answered in the end.
 */
provider: string | null, 
/**
 * The whole object, routing attempts and provider extras included.
 */
metadata: unknown, };

export type ChatRequest = { model: string, messages: Array<ChatMessage>, tools?: Array<ToolDefinition>, toolMode?: ToolMode, 
/**
 * With `required`: the one tool that must be called.
 */
requiredTool?: string, options?: ChatOptions, };

export type ChatMessage = { role: Role, content: Array<ChatPart>, };

export type Role = "user" | "assistant" | "system";

export type ChatPart = { "type": "text", value: string, } | { "type": "thinking", replay?: ThinkingReplay, } | { "type": "toolCall", callId: string, name: string, inputJson: string, } | { "type": "toolResult", callId: string, content: Array<ChatPart>, isError?: boolean, } | { "type": "data", mimeType: string, base64: string, };

export type ToolDefinition = { name: string, description?: string, 
/**
 * A JSON schema; tools without arguments have none.
 */
inputSchema: unknown, };

export type ToolMode = "auto" | "required" | "none";

export type ChatOptions = { maxOutputTokens?: number, temperature?: number, topP?: number, 
/**
 * `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`: whatever the model offers.
 */
reasoningEffort?: string, 
/**
 * `auto`, `concise` or `detailed`.
 */
reasoningSummary?: string, 
/**
 * The same for all requests of a conversation, so that the provider's prompt cache is found again.
 */
conversationId?: string, 
/**
 * Where neither the caller nor a marker in the messages names the conversation: it begins here, under this name.
 */
newConversationId?: string, 
/**
 * Let the gateway place cache markers for providers that need them.
 */
automaticCaching?: boolean, routing?: Routing, 
/**
 * Let Claude models forget old tool results by themselves.
 */
claudeContextManagement?: boolean, 
/**
 * The caller's own model options. Those that name an option above count as that option; keys that start with `_`
 * are VS Code's and never sent.
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
 * Scheme, host and port. A key belongs to one of these.
 */
origin: string, 
/**
 * Without a slash at the end.
 */
baseUrl: string, };

export type HttpAnswer = { status: number, headers: Array<[string, string]>, 
/**
 * Its first 64 KiB are enough of an error.
 */
body: string, };

export type Transport = "connect" | "headersTimeout" | "broken" | "idle" | "redirect" | "tooLarge";

export type BodyEnd = "eof" | "cancelled" | "idleTimeout" | "broken";

export type NextStep = { "type": "done" } | { "type": "cancelled" } | { "type": "retry", delayMs: number, message: string, } | { "type": "reject", message: string, 
/**
 * Absent where the server is content and the answer is not.
 */
kind: FailureKind | null, };

export type VsCodeUsage = { 
/**
 * All of the input, what came from a cache included.
 */
prompt_tokens: number, completion_tokens: number, total_tokens: number, prompt_tokens_details?: PromptDetails, completion_tokens_details?: CompletionDetails, };

export type PromptDetails = { cached_tokens: number, };

export type CompletionDetails = { reasoning_tokens: number, };

export type ModelList = { 
/**
 * Favourites first, otherwise in the server's order.
 */
models: Array<ChatModel>, 
/**
 * Models that do not chat, and those a rule hides.
 */
others: Array<OtherModel>, notes: Array<Note>, };

export type ChatModel = { id: string, name: string, 
/**
 * The upstream family without creator, date or stage: `claude-sonnet-4.5`, `gpt-5.2`, `gemini-3-pro`.
 */
family: string, 
/**
 * The release the id names (`20250929`), else the number in the family (`4.5`), else `latest`.
 */
version: string, maxInputTokens: number, maxOutputTokens: number, 
/**
 * The two above together.
 */
contextWindow: number, limitsFrom: LimitsFrom, capabilities: ModelCapabilities, 
/**
 * Short, for beside the name.
 */
detail: string, 
/**
 * Markdown.
 */
tooltip: string, 
/**
 * `$3 / $15 per M tokens, cached $0.30`; absent if the server tells no prices.
 */
pricing: string | null, prices: Prices | null, effort: EffortChoices | null, isUserSelectable: boolean, isFavourite: boolean, isDefault: boolean, creator: string, description: string | null, 
/**
 * Seconds since 1970, like the next one.
 */
released: number | null, deprecatedAt: number | null, 
/**
 * Until when its training data reaches.
 */
knowledge: string | null, tags: Array<string>, regions: Array<string>, parameters: Array<string>, 
/**
 * Whether a provider promises to keep nothing; absent if nobody said.
 */
zeroDataRetention: boolean | null, 
/**
 * Who serves it, once the model's endpoints were asked for.
 */
providers: Array<ModelProvider>, };

export type LimitsFrom = "assumed" | "list" | "providers" | "learned" | "setting";

export type ModelCapabilities = { toolCalling: boolean, 
/**
 * The server said nothing about tools, either way.
 */
toolCallingAssumed: boolean, imageInput: boolean, fileInput: boolean, imageOutput: boolean, thinking: boolean, webSearch: boolean, structuredOutput: boolean, promptCaching: boolean, };

export type EffortChoices = { values: Array<string>, 
/**
 * One of them.
 */
default: string, };

export type Prices = { input: number | null, output: number | null, 
/**
 * Input that the provider had in its prompt cache.
 */
cachedInput: number | null, cacheWrite: number | null, 
/**
 * Other prices for long requests, shortest first.
 */
tiers: Array<PriceTier>, };

export type PriceTier = { fromInputTokens: number, input: number | null, output: number | null, cachedInput: number | null, cacheWrite: number | null, };

export type ModelProvider = { name: string, 
/**
 * Serving, as far as the gateway knows.
 */
isActive: boolean, contextWindow: number | null, maxOutputTokens: number | null, maxInputTokens: number | null, pricing: string | null, prices: Prices | null, quantization: string | null, 
/**
 * Per cent.
 */
uptime: number | null, 
/**
 * Median time to the first token.
 */
latencyMs: number | null, tokensPerSecond: number | null, };

export type OtherModel = { id: string, name: string, 
/**
 * `embedding`, `image`, …, or `hidden`.
 */
kind: string, pricing: string | null, prices: Prices | null, };

export type ModelSettings = { hide?: Array<string>, favourites?: Array<string>, 
/**
 * The first model that the first matching pattern finds.
 */
default?: Array<string>, 
/**
 * The last match wins here too, field by field.
 */
limits?: Array<LimitSetting>, };

export type LimitSetting = { 
/**
 * A pattern.
 */
model: string, contextWindow?: number, maxInputTokens?: number, maxOutputTokens?: number, };

export type ListState = "fresh" | "stale" | "missing";

export type Estimate = { tokens: number, 
/**
 * So many of them a server has counted; all of them if this exact request was answered before.
 */
known: number, };

export type FileState = "good" | "missing" | "damaged" | "newer";

export type TokenBreakdown = { input_tokens: number, model: string, 
/**
 * Which rules were applied: `gpt-5`, `claude`, …
 */
family: string, 
/**
 * Whether the text was counted with the model's own vocabulary. If not, it is an estimate.
 */
own_vocabulary: boolean, instructions: number, messages: number, tool_calls: number, tool_results: number, reasoning: number, tools: number, 
/**
 * The JSON schema that the answer must follow.
 */
format: number, images: number, 
/**
 * What every request costs before anything is in it.
 */
framing: number, 
/**
 * What could not be counted: the server will count more than this.
 */
notes: Array<string>, };

export type RequestStart = { 
/**
 * Any name that no other open request has.
 */
id: string, conversation: string, model: string, kind?: RequestKind, 
/**
 * How many input tokens we think it has.
 */
estimate?: number, 
/**
 * How many the model takes.
 */
maxInputTokens?: number, };

export type RequestKind = "main" | "subAgent" | "summary" | "utility";

export type RequestEnd = { usage?: Usage, 
/**
 * The gateway's own figure, in US dollars.
 */
cost?: string, 
/**
 * What the model's prices say, in US dollars; used if the gateway tells nothing.
 */
costByPrices?: number, 
/**
 * The server said that the answer is over.
 */
isAnswered?: boolean, };

export type RequestUsage = { id: string, conversation: string, model: string, kind: RequestKind, isAnswered: boolean, estimate: number | null, inputTokens: number | null, cachedTokens: number | null, outputTokens: number | null, reasoningTokens: number | null, 
/**
 * US dollars.
 */
cost: number | null, firstPartMs: number | null, totalMs: number, 
/**
 * While the answer was coming.
 */
tokensPerSecond: number | null, };

export type Totals = { requests: number, 
/**
 * So many of them the server did not count: their tokens are missing here.
 */
uncounted: number, 
/**
 * So many of them were counted and have no cost that anybody told.
 */
unpriced: number, inputTokens: number, cachedTokens: number, outputTokens: number, reasoningTokens: number, 
/**
 * US dollars.
 */
cost: number, 
/**
 * Over the requests that gave a part at all.
 */
firstParts: number, firstPartMs: number, 
/**
 * Over the requests whose speed is known.
 */
streamedTokens: number, streamingMs: number, };

export type StatusLine = { 
/**
 * `52.0k/128k · 41 %`; with `~` in front while it is an estimate.
 */
text: string, level: Level, activity: Activity, tooltip: Array<TooltipLine>, };

export type Level = "normal" | "warning" | "error";

export type Activity = "idle" | "answering" | "summarizing";

export type TooltipLine = { label: string, value: string, };

export type Preflight = { level: Level, message: string, };
