// The exports of the entry point `ai-sdk`: the adapter for the AI SDK alone, which is smaller.

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
export { type Start, VSCodeStreamAdapter } from "./adapters.js";
export { SluiceStreamError } from "./error.js";
export type { ResponsePart, VSCodeClasses } from "./parts.js";
export type { AdapterLogger, StreamAdapterOptions, StreamUsage } from "./session.js";
export type { Cancellation, ChunkSource } from "./source.js";
