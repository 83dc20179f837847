// The loader of the core (crates/sluice-wasm, or crates/sluice-ai-sdk-wasm for chunks of the AI SDK): one exchange from start to finish, without I/O.
//
//   const core = await loadCore(bytes);
//   const exchange = core.openExchange({ origin });
//   exchange.action                      // what to do next: send, read, wait, or nothing because it is over
//   exchange.handleHead(status, headers) // what came of it; every handler returns the outputs that follow
//   exchange.handleBytes(chunk)
//   exchange.close()                     // in any case

import type { Action, Citation, ExchangeOptions, Note, Part, Report, ThinkingReplay } from "./boundary.js";
import { CoreError, Instance, type ModuleExports } from "./module.js";
import {
  ACTION,
  BODY_ENDED,
  CANCEL,
  CANCEL_UNSEEN,
  CANNOT_CONNECT,
  CITATIONS,
  CONNECTION_BROKE,
  CRASHED,
  DATA,
  NOTE,
  RAN_OUT_OF_MEMORY,
  READ,
  TEXT,
  THINKING,
  THINKING_REPLAY,
  TIME_IS_UP,
  TOOL_CALL,
} from "./numbers.js";

export type * from "./boundary.js";
export { CoreError, QuestionError } from "./module.js";

/** An output for the reader: a part to show, or a note to log. */
export type Output = Part | ({ type: "note" } & Note);

/** Compiles the core and starts its first instance. Later instances reuse the compiled module. */
export async function loadCore(wasm: BufferSource | WebAssembly.Module): Promise<Core> {
  // Functions are compiled when they are first called, so checking the module here takes less time than waiting for another
  // thread to do it.
  return new Core(wasm instanceof WebAssembly.Module ? wasm : new WebAssembly.Module(wasm));
}

const MAX_IDLE = 4;
/** WebAssembly never releases memory, so an instance that a large answer has enlarged isn't kept. */
const MAX_IDLE_MEMORY = 8 << 20;

/**
 * Opens exchanges. Each running exchange has its own instance of the module, so one that exhausts its memory or crashes
 * fails alone. An idle instance is reused for the next exchange.
 */
export class Core {
  readonly #module: WebAssembly.Module;
  readonly #idle: Instance<CoreExports>[];

  constructor(module: WebAssembly.Module) {
    this.#module = module;
    this.#idle = [new Instance(module)];
  }

  /** Starts an exchange by sending the request. */
  openExchange(options: ExchangeOptions): Exchange {
    return new Exchange(this, { random: Math.random(), ...options }, false);
  }

  /** Starts an exchange in the body of a response that is known to be a stream. */
  openStream(options?: ExchangeOptions): Exchange {
    return new Exchange(this, options, true);
  }

  /** Returns how much memory the idle instances hold. */
  get memoryBytes(): number {
    return this.#idle.reduce((sum, instance) => sum + instance.memoryBytes, 0);
  }

  /** Returns an instance for one exchange; only `Exchange` calls it. */
  take(): Instance<CoreExports> {
    try {
      return this.#idle.pop() ?? new Instance(this.#module);
    } catch (cause) {
      throw new CoreError("There is no memory left to read another answer. Wait until one of the others has ended.", { cause });
    }
  }

  /**
   * Keeps the instance of an exchange that is over. If an exchange is never closed, its instance is garbage-collected
   * with it.
   */
  giveBack(instance: Instance<CoreExports>): void {
    if (!instance.crashed && instance.memoryBytes <= MAX_IDLE_MEMORY && this.#idle.length < MAX_IDLE) {
      this.#idle.push(instance);
    }
  }
}

interface CoreExports extends ModuleExports {
  ran_out_of_memory(): number;
  exchange_open(length: number, isReading: number, now: number): void;
  exchange_head(length: number, now: number): void;
  exchange_bytes(length: number, now: number): void;
  /** Only the module for the AI SDK has this. */
  exchange_chunk(length: number, now: number): void;
  exchange_no_connection(length: number, now: number): void;
  exchange_event(event: number, now: number): void;
  exchange_entry(): void;
  exchange_close(): void;
}

/** Larger chunks cross in pieces of this size, so that the core never holds a whole one in addition to its results. */
const MAX_PIECE = 1 << 20;

/** One request from start to finish. After `close`, only `action` may be used. */
export class Exchange {
  readonly #core: Core;
  #instance: Instance<CoreExports>;
  #action: Action = { type: "read", timeoutMs: 0 };
  #isClosed = false;

  constructor(core: Core, options: ExchangeOptions | undefined, isReading: boolean) {
    this.#core = core;
    this.#instance = core.take();
    const json = options === undefined ? "" : JSON.stringify(options);
    this.#tell((instance, now) => instance.exports.exchange_open(instance.writeText(json), isReading ? 1 : 0, now), []);
  }

  /** What to do next. It stays the same until something is handled. If its time limit runs out first, call `handleTimeout`. */
  get action(): Action {
    return this.#action;
  }

  /** How it ended, once it has. */
  get report(): Report | undefined {
    return this.#action.type === "end" ? this.#action : undefined;
  }

  /** What the ledger learns from the exchange, as JSON for `Tokens.end`; nothing before the end. Ask before `close`. */
  get ledgerEntry(): string | undefined {
    const instance = this.#instance;
    instance.run((exports) => exports.exchange_entry());
    return instance.rows === 0 ? undefined : instance.text();
  }

  /** The head of a response has arrived. */
  handleHead(status: number, headers: Iterable<[string, string]>): Output[] {
    const head = JSON.stringify({ status, headers: [...headers], now: Math.floor(Date.now() / 1000) });
    return this.#tell((instance, now) => instance.exports.exchange_head(instance.writeText(head), now), []);
  }

  /** More of the body has arrived, in any chunks. */
  handleBytes(chunk: Uint8Array): Output[] {
    const outputs: Output[] = [];
    if (chunk.length <= MAX_PIECE) {
      this.#pass(chunk, outputs);
      return outputs;
    }
    for (let at = 0; at < chunk.length && this.#action.type === "read"; at += MAX_PIECE) {
      this.#pass(chunk.subarray(at, at + MAX_PIECE), outputs);
    }
    return outputs;
  }

  /** A chunk of the AI SDK has arrived, as the JSON that `chunkToJson` makes of any JavaScript value. */
  handleChunk(json: string): Output[] {
    return this.#tell((instance, now) => instance.exports.exchange_chunk(instance.writeText(json), now), []);
  }

  /** The body has ended. */
  handleEnd(): Output[] {
    return this.#happen(BODY_ENDED);
  }

  /** The connection failed, for a reason that may have a code such as `ENOTFOUND`, or broke. */
  handleConnectionError(error: "connect" | "broken", code?: string): Output[] {
    if (error === "connect" && code !== undefined) {
      return this.#tell((instance, now) => instance.exports.exchange_no_connection(instance.writeText(code), now), []);
    }
    return this.#happen(error === "connect" ? CANNOT_CONNECT : CONNECTION_BROKE);
  }

  /** The time limit of the action has run out. */
  handleTimeout(): Output[] {
    return this.#happen(TIME_IS_UP);
  }

  /**
   * Ends the exchange because the caller no longer wants the answer. Returns what has arrived and was waiting for its time.
   * Pass whether the caller hasn't seen every output; then nothing is returned.
   */
  cancel({ unseenOutputs = false } = {}): Output[] {
    return this.#happen(unseenOutputs ? CANCEL_UNSEEN : CANCEL);
  }

  /** Frees the memory of the exchange. */
  close(): void {
    if (!this.#isClosed) {
      this.#isClosed = true;
      if (!this.#instance.crashed) {
        this.#instance.run((exports) => exports.exchange_close());
      }
      this.#core.giveBack(this.#instance);
    }
  }

  #happen(event: number): Output[] {
    return this.#tell((instance, now) => instance.exports.exchange_event(event, now), []);
  }

  /** Passes a piece of the body to the core. Because this runs for every chunk, it allocates no closures, as `#tell` would. */
  #pass(piece: Uint8Array, outputs: Output[]): void {
    const instance = this.#instance;
    if (this.#isClosed) {
      throw new CoreError("the exchange is closed");
    }
    try {
      instance.exports.exchange_bytes(instance.writeBytes(piece), performance.now());
    } catch {
      instance.crashed = true;
      this.#crash();
    }
    this.#read(outputs);
  }

  #tell(call: (instance: Instance<CoreExports>, now: number) => void, outputs: Output[]): Output[] {
    if (this.#isClosed) {
      throw new CoreError("the exchange is closed");
    }
    try {
      this.#instance.run(() => call(this.#instance, performance.now()));
    } catch {
      this.#crash();
    }
    this.#read(outputs);
    return outputs;
  }

  /** The core's state is lost with its instance. A new one reports how such an exchange ends. */
  #crash(): void {
    const event = this.#instance.exports.ran_out_of_memory() === 1 ? RAN_OUT_OF_MEMORY : CRASHED;
    const fresh = (this.#instance = this.#core.take());
    fresh.run((exports) => {
      exports.exchange_open(0, 1, 0);
      exports.exchange_event(event, 0);
    });
  }

  /** Turns the rows of the last answer into outputs and the next action. */
  #read(outputs: Output[]): void {
    const instance = this.#instance;
    const rows = instance.rows;
    if (instance.extra(0) === READ) {
      const timeoutMs = instance.extra(1);
      if (this.#action.type !== "read" || this.#action.timeoutMs !== timeoutMs) {
        this.#action = { type: "read", timeoutMs };
      }
      if (rows === 0) {
        return;
      }
    }
    const arena = instance.text();
    // This is by far the most frequent case: some text and nothing else.
    if (rows === 1 && instance.kind(0) === TEXT) {
      outputs.push({ type: "text", value: arena });
      return;
    }
    let from = 0;
    let row = 0;
    const take = (): string => {
      const to = from + instance.units(row);
      const text = arena.slice(from, to);
      from = to;
      row += 1;
      return text;
    };
    while (row < rows) {
      const kind = instance.kind(row);
      switch (kind) {
        case TEXT:
          outputs.push({ type: "text", value: take() });
          break;
        case THINKING: {
          const id = take();
          outputs.push({ type: "thinking", value: take(), id });
          break;
        }
        case THINKING_REPLAY: {
          const id = take();
          outputs.push({ type: "thinking", value: take(), id, replay: JSON.parse(take()) as ThinkingReplay });
          break;
        }
        case TOOL_CALL:
          outputs.push({ type: "toolCall", callId: take(), name: take(), inputJson: take() });
          break;
        case DATA:
          outputs.push({ type: "data", mimeType: take(), base64: take() });
          break;
        case CITATIONS:
          outputs.push(JSON.parse(take()) as { type: "citations"; citations: Citation[]; markdown: string });
          break;
        case NOTE:
          outputs.push({ type: "note", ...(JSON.parse(take()) as Note) });
          break;
        case ACTION:
          this.#action = JSON.parse(take()) as Action;
          break;
        default:
          throw new CoreError(`the core gave a row of the unknown kind ${kind}`);
      }
    }
  }
}
