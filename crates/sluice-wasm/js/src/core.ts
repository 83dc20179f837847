// The loader: hides the WebAssembly boundary (crates/sluice-wasm/src/lib.rs) behind three typed calls.
//
//   const core = await loadCore(bytes);
//   const stream = core.openStream();
//   for (const output of stream.push(chunk)) …        // as often as bytes arrive
//   if (stream.isTerminal) …                          // stop reading, even if the server does not close
//   const { outputs, outcome } = stream.finish("eof"); // exactly once; also when cancelled

import type { Citation, Note, Outcome, Part, ThinkingReplay } from "./boundary.js";

export type * from "./boundary.js";

/** What a push gives: parts to show, notes to log. */
export type Output = Part | ({ type: "note" } & Note);

/** Why no more bytes come. */
export type BodyEnd = "eof" | "cancelled" | "idleTimeout" | "broken";

/** A bug in the core. The stream is lost; the next one gets a fresh instance. */
export class CoreError extends Error {
  override readonly name = "CoreError";
}

export interface StreamOptions {
  /** Give a note for every event read. */
  readonly trace?: boolean;
}

/** Compiles and starts the core. Later instances, after a crash, reuse the compiled module. */
export async function loadCore(wasm: BufferSource | WebAssembly.Module): Promise<Core> {
  const module = wasm instanceof WebAssembly.Module ? wasm : await WebAssembly.compile(wasm);
  return new Core(module);
}

export class Core {
  readonly #module: WebAssembly.Module;
  #instance: Instance;

  constructor(module: WebAssembly.Module) {
    this.#module = module;
    this.#instance = new Instance(module);
  }

  openStream(options: StreamOptions = {}): ResponseStream {
    if (this.#instance.crashed) {
      this.#instance = new Instance(this.#module);
    }
    return new ResponseStream(this.#instance, options);
  }
}

/** One answer being received. */
export class ResponseStream {
  readonly #instance: Instance;
  readonly #handle: number;
  #isTerminal = false;
  #isFinished = false;

  constructor(instance: Instance, options: StreamOptions) {
    this.#instance = instance;
    this.#handle = instance.open(options.trace ?? false);
  }

  /** Whether the server has said how the answer ended. */
  get isTerminal(): boolean {
    return this.#isTerminal;
  }

  /** Takes the next bytes of the body, however they were cut. */
  push(chunk: Uint8Array): Output[] {
    if (this.#isFinished) {
      throw new CoreError("push after finish");
    }
    if (this.#isTerminal) {
      return [];
    }
    const outputs: Output[] = [];
    this.#isTerminal = this.#instance.push(this.#handle, chunk, outputs);
    return outputs;
  }

  /** Ends the stream, says what it amounts to, and frees its memory. */
  finish(end: BodyEnd): { outputs: Output[]; outcome: Outcome } {
    if (this.#isFinished) {
      throw new CoreError("finish called twice");
    }
    this.#isFinished = true;
    const outputs: Output[] = [];
    const outcome = this.#instance.finish(this.#handle, end, outputs);
    this.#isTerminal = true;
    return { outputs, outcome };
  }
}

interface Exports {
  readonly memory: WebAssembly.Memory;
  header(): number;
  input_window(length: number): number;
  stream_open(trace: number): number;
  stream_push(handle: number, length: number): void;
  stream_finish(handle: number, end: number): void;
}

// Row kinds and the header's fields, as crates/sluice-wasm/src/lib.rs numbers them.
const TEXT = 1;
const THINKING = 2;
const THINKING_REPLAY = 3;
const TOOL_CALL = 4;
const DATA = 5;
const CITATIONS = 6;
const NOTE = 7;
const OUTCOME = 8;
const ROWS = 0;
const TABLE = 1;
const ARENA = 2;
const ARENA_BYTES = 3;
const ARENA_UNITS = 4;
const IS_TERMINAL = 5;
const BODY_ENDS: Record<BodyEnd, number> = { eof: 0, cancelled: 1, idleTimeout: 2, broken: 3 };

/** One instance of the WebAssembly module, and the views onto its memory. */
class Instance {
  crashed = false;
  readonly #exports: Exports;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** In 32-bit words, as the views count. */
  readonly #header: number;
  #bytes: Uint8Array<ArrayBuffer>;
  #words: Uint32Array<ArrayBuffer>;
  #windowAddress = 0;
  #windowLength = 0;

  constructor(module: WebAssembly.Module) {
    this.#exports = new WebAssembly.Instance(module).exports as unknown as Exports;
    this.#header = this.#exports.header() >>> 2;
    this.#bytes = new Uint8Array(this.#exports.memory.buffer as ArrayBuffer);
    this.#words = new Uint32Array(this.#exports.memory.buffer as ArrayBuffer);
  }

  open(trace: boolean): number {
    this.#checkAlive();
    try {
      return this.#exports.stream_open(trace ? 1 : 0);
    } catch (cause) {
      throw this.#crash(cause);
    }
  }

  push(handle: number, chunk: Uint8Array, outputs: Output[]): boolean {
    this.#checkAlive();
    try {
      if (chunk.length > this.#windowLength) {
        this.#windowLength = Math.max(chunk.length, 64 * 1024);
        this.#windowAddress = this.#exports.input_window(this.#windowLength);
        this.#refreshViews();
      }
      this.#bytes.set(chunk, this.#windowAddress);
      this.#exports.stream_push(handle, chunk.length);
    } catch (cause) {
      throw this.#crash(cause);
    }
    this.#read(outputs);
    return this.#words[this.#header + IS_TERMINAL] === 1;
  }

  finish(handle: number, end: BodyEnd, outputs: Output[]): Outcome {
    this.#checkAlive();
    try {
      this.#exports.stream_finish(handle, BODY_ENDS[end]);
    } catch (cause) {
      throw this.#crash(cause);
    }
    const outcome = this.#read(outputs);
    if (outcome === undefined) {
      throw new CoreError("the core gave no outcome");
    }
    return JSON.parse(outcome) as Outcome;
  }

  #checkAlive(): void {
    if (this.crashed) {
      throw new CoreError("the core crashed earlier in another stream; start this one again");
    }
  }

  /** A trap leaves the instance's memory in no known state, so nothing may use it again. */
  #crash(cause: unknown): CoreError {
    this.crashed = true;
    return new CoreError("the core crashed on this stream", { cause });
  }

  /** Memory that grew is a new buffer, and the views onto the old one are empty. */
  #refreshViews(): void {
    if (this.#bytes.length === 0) {
      const buffer = this.#exports.memory.buffer as ArrayBuffer;
      this.#bytes = new Uint8Array(buffer);
      this.#words = new Uint32Array(buffer);
    }
  }

  /** Turns the table into objects; returns the outcome's JSON if there is one. */
  #read(outputs: Output[]): string | undefined {
    this.#refreshViews();
    const words = this.#words;
    const header = this.#header;
    const rows = words[header + ROWS]!;
    if (rows === 0) {
      return undefined;
    }
    const arena = this.#decode(words[header + ARENA]!, words[header + ARENA_BYTES]!, words[header + ARENA_UNITS]!);
    let cell = words[header + TABLE]! >>> 2;
    // The usual case by far: some text and nothing else.
    if (rows === 1 && words[cell] === TEXT) {
      outputs.push({ type: "text", value: arena });
      return undefined;
    }

    const end = cell + rows * 3;
    let from = 0;
    const take = (): string => {
      const to = from + words[cell + 2]!;
      const text = arena.slice(from, to);
      from = to;
      cell += 3;
      return text;
    };
    let outcome: string | undefined;
    while (cell < end) {
      switch (words[cell]) {
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
        case OUTCOME:
          outcome = take();
          break;
        default:
          throw this.#crash(new Error(`unknown row kind ${words[cell]}`));
      }
    }
    return outcome;
  }

  #decode(address: number, bytes: number, units: number): string {
    // A few ASCII characters are put together faster here than in the decoder behind a call.
    if (bytes === units && bytes <= 24) {
      let text = "";
      for (let at = address; at < address + bytes; at++) {
        text += String.fromCharCode(this.#bytes[at]!);
      }
      return text;
    }
    return this.#decoder.decode(this.#bytes.subarray(address, address + bytes));
  }
}
