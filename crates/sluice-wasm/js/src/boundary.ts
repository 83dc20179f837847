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

export type NoteKind = "event" | "unknownEvent" | "ignoredItem" | "ignoredContent" | "malformed" | "typeMismatch" | "sequence" | "textMismatch" | "orphanArguments" | "droppedCall" | "repeatedCall" | "leftover";

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

export type Failure = { kind: FailureKind, message: string, 
/**
 * The server's own code or error type.
 */
code: string | null, 
/**
 * The tool whose call could not be used.
 */
tool: string | null, };

export type FailureKind = "server" | "toolCall" | "tooLarge";

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
