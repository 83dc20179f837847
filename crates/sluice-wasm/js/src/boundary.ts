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

export type NoteKind = "event" | "unknownEvent" | "ignoredItem" | "ignoredContent" | "malformed" | "typeMismatch" | "sequence" | "textMismatch" | "orphanArguments" | "droppedCall" | "repeatedCall" | "leftover" | "leftOut" | "repaired" | "ranElsewhere" | "takenBack";

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

export type ChatOptions = { maxOutputTokens: number, temperature?: number, topP?: number, 
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
 * Let the gateway place cache markers for providers that need them.
 */
automaticCaching?: boolean, routing?: Routing, 
/**
 * Let Claude models forget old tool results by themselves.
 */
claudeContextManagement?: boolean, 
/**
 * The caller's own model options; keys that start with `_` are VS Code's and never sent.
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
