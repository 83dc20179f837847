// The package's exports. How a stream becomes parts, file by file:
//
//   source.ts   any source -> items, one after the other, cancellable
//   session.ts  items -> the core (WebAssembly) -> outputs; the end -> resolve or reject
//   parts.ts    the core's parts -> VS Code's classes
//   error.ts    what it rejects with
//   adapters.ts the two classes below
//   wasm.ts     the core for each of them; embedded.ts unpacks it
//   ai-sdk.ts   the entry point with only one of them
//
// Two other entry points are for requests: messages.ts builds them, and tokens.ts counts what is in them. chat.ts reads VS Code's
// messages for both.

export type {
  Empty,
  Failure,
  FailureKind,
  Gateway,
  Note,
  NoteKind,
  Outcome,
  Overflow,
  Status,
  TokenDetails,
  Usage,
} from "../../loader/src/core.js";
export { OpenResponsesStreamAdapter, type Start, VSCodeStreamAdapter } from "./adapters.js";
export { SluiceStreamError } from "./error.js";
export type { ResponsePart, VSCodeClasses } from "./parts.js";
export type { AdapterLogger, StreamAdapterOptions, StreamUsage } from "./session.js";
export type { ByteSource, Cancellation, ChunkSource } from "./source.js";
export { useCore } from "./wasm.js";
