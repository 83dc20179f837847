// Typed questions to the requests module (crates/sluice-requests-wasm): where requests go, what is sent, which models
// there are.

import type {
  ChatMessage,
  ChatModel,
  ChatRequest,
  Endpoint,
  HttpAnswer,
  HttpRequest,
  ListState,
  ModelSettings,
  Note,
  OtherModel,
  RequestKind,
  Transport,
} from "./boundary.js";
import { CoreError, QuestionError, type ToolNames } from "./core.js";

/** A request ready to be sent, without the key, and what its answer is read with. */
export interface BuiltRequest {
  readonly request: HttpRequest;
  /** Where it goes; a key belongs to one of these. */
  readonly origin: string;
  readonly toolNames: ToolNames;
  readonly conversationId: string | null;
  /** The text of a `stateful_marker` part to leave in the answer. */
  readonly marker: string | null;
  /** What it is for. */
  readonly kind: RequestKind;
  readonly notes: readonly Note[];
}

/** Something that may change what is known about an endpoint's models. */
export type CatalogEvent =
  | { readonly listAnswered: HttpAnswer }
  | { readonly listFailed: Transport }
  | { readonly endpointsAnswered: readonly [model: string, answer: HttpAnswer] }
  | { readonly overflowed: readonly [model: string, message: string] };

export interface CatalogQuestion {
  readonly baseUrl: string;
  readonly snapshot: string | undefined;
  readonly settings: ModelSettings;
  readonly event?: CatalogEvent;
  /** A model to know more about. */
  readonly about?: string;
}

/** What is known now. Keep the snapshot; a list that was known is never lost. */
export interface Catalog {
  readonly models: readonly ChatModel[];
  readonly others: readonly OtherModel[];
  readonly state: ListState;
  readonly listRequest: HttpRequest;
  /** Who serves the model asked about; absent if that is known well enough. */
  readonly endpointsRequest: HttpRequest | null;
  readonly changed: boolean;
  readonly notes: readonly Note[];
  readonly snapshot: string;
}

export async function loadRequests(wasm: BufferSource | WebAssembly.Module): Promise<Requests> {
  return new Requests(wasm instanceof WebAssembly.Module ? wasm : await WebAssembly.compile(wasm));
}

interface Exports {
  readonly memory: WebAssembly.Memory;
  input_window(length: number): number;
  output(): number;
  output_length(): number;
  ask(question: number, length: number): number;
}

const MAX_MEMORY = 64 << 20;

// As crates/sluice-requests-wasm/src/questions.rs numbers them.
const PARSE_ENDPOINT = 0;
const BUILD_REQUEST = 1;
const CATALOG = 2;
const ESTIMATE = 3;
const MASK = 4;

export class Requests {
  readonly #module: WebAssembly.Module;
  readonly #encoder = new TextEncoder();
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #exports: Exports | undefined;

  constructor(module: WebAssembly.Module) {
    this.#module = module;
  }

  /** Looks at a base URL. Throws a QuestionError that says what is wrong with it. */
  parseEndpoint(address: string): Endpoint {
    return this.#ask(PARSE_ENDPOINT, address);
  }

  buildRequest(chat: ChatRequest, baseUrl: string): BuiltRequest {
    return this.#ask(BUILD_REQUEST, { chat: JSON.stringify(chat), baseUrl });
  }

  catalog(question: CatalogQuestion): Catalog {
    return this.#ask(CATALOG, { event: null, about: null, ...question, now: Math.floor(Date.now() / 1000) });
  }

  /** Tokens without a vocabulary: at once, some per cent too many. For the moment before the vocabularies are there. */
  estimateTokens(model: string, what: string | ChatMessage): number {
    return this.#ask(ESTIMATE, typeof what === "string" ? { model, text: what } : { model, message: what });
  }

  /**
   * A copy of a JSON value (a text, a failure, an outcome, a note, an answer) with `[hidden]` in place of the given secrets,
   * however they are spelled, and of whatever looks like a key. The time is linear in the length. Secrets of fewer than
   * eight bytes are ignored.
   */
  mask<T>(secrets: Iterable<string>, value: T): T {
    return this.#ask(MASK, { secrets: [...secrets], value });
  }

  #ask<T>(question: number, value: unknown): T {
    // WebAssembly gives no memory back; what one large conversation took is let go of with its instance.
    if ((this.#exports?.memory.buffer.byteLength ?? 0) > MAX_MEMORY) {
      this.#exports = undefined;
    }
    const exports = (this.#exports ??= new WebAssembly.Instance(this.#module).exports as unknown as Exports);
    let isAnswer: number;
    let text: string;
    try {
      const json = this.#encoder.encode(JSON.stringify(value));
      const window = exports.input_window(json.length);
      new Uint8Array(exports.memory.buffer).set(json, window);
      isAnswer = exports.ask(question, json.length);
      text = this.#decoder.decode(new Uint8Array(exports.memory.buffer, exports.output(), exports.output_length()));
    } catch (cause) {
      // After a trap the memory is in no known state; the next question gets a fresh instance.
      this.#exports = undefined;
      throw new CoreError("the core crashed on this question", { cause });
    }
    if (isAnswer === 0) {
      throw new QuestionError(text);
    }
    return JSON.parse(text) as T;
  }
}
