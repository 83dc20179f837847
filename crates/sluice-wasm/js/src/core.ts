// The loader: hides the WebAssembly boundary (crates/sluice-wasm/src/lib.rs) behind three typed calls.
//
//   const core = await loadCore(bytes);
//   const stream = core.openStream();
//   for (const output of stream.push(chunk)) …        // as often as bytes arrive
//   if (stream.isTerminal) …                          // stop reading, even if the server does not close
//   const { outputs, outcome } = stream.finish("eof"); // exactly once; also when cancelled
//
// A stream of AI SDK chunks is opened with `openChunkStream` and fed with `pushChunk`, or with `push` if it comes as bytes.
// Nothing is imported at run time: a second file would take as long to load as the module.

import type {
  BodyEnd,
  Citation,
  HttpAnswer,
  NextStep,
  Note,
  Outcome,
  Part,
  ThinkingReplay,
  Transport,
  VsCodeUsage,
} from "./boundary.js";

export type * from "./boundary.js";

/** What a push gives: parts to show, notes to log. */
export type Output = Part | ({ type: "note" } & Note);

/** A bug in the core. The stream is lost; the next one gets a fresh instance. */
export class CoreError extends Error {
  override readonly name = "CoreError";
}

export interface StreamOptions {
  /** Give a note for every event read. */
  readonly trace?: boolean;
  /** Call ids as the server gave them, without the prefix `gw-`. */
  readonly plainCallIds?: boolean;
  /** What the request called its tools. */
  readonly toolNames?: ToolNames;
}

/** Tool names as the server knows them, and as VS Code does. */
export type ToolNames = { readonly [sent: string]: string };

/** Circumstances of an attempt to get an answer that decide what comes next. */
export interface Attempt {
  readonly host: string;
  /** Counts from 1. */
  readonly attempt: number;
  /** Whether a tool call was given. */
  readonly calledTool: boolean;
}

/** What to do after it, and the counts VS Code wants to know. */
export interface Decision {
  readonly step: NextStep;
  readonly usage: VsCodeUsage | null;
  readonly outcome: Outcome;
}

/** The question was wrong; the message says how, in words fit to show. */
export class QuestionError extends Error {
  override readonly name = "QuestionError";
}

/** Compiles and starts the core. Later instances, after a crash, reuse the compiled module. */
export async function loadCore(wasm: BufferSource | WebAssembly.Module): Promise<Core> {
  // Functions are compiled when they are first called: to check the module here takes less time than to wait for another
  // thread to do it.
  return new Core(wasm instanceof WebAssembly.Module ? wasm : new WebAssembly.Module(wasm));
}

export class Core {
  readonly #module: WebAssembly.Module;
  #instance: Instance;

  constructor(module: WebAssembly.Module) {
    this.#module = module;
    this.#instance = new Instance(module);
  }

  openStream(options: StreamOptions = {}): ResponseStream {
    return new ResponseStream(this.#alive(), options);
  }

  /** A stream of the Vercel AI SDK's chunks: `fullStream`, or a UI message stream. */
  openChunkStream(options: StreamOptions = {}): ChunkStream {
    return new ChunkStream(this.#alive(), options, AI_SDK);
  }

  /** What to do after an attempt that gave no stream: an answer of another kind, or none at all. */
  decideWithoutStream(attempt: Attempt, why: { answer: HttpAnswer } | { transport: Transport }): Decision {
    return this.#alive().decide({ ...attempt, ...why });
  }

  /** The stream that says the same as a whole answer in JSON; null if the JSON is no answer. */
  asStream(json: string): string | null {
    return this.#ask(AS_STREAM, json);
  }

  #ask<T>(question: number, value: unknown): T {
    return this.#alive().ask(question, value);
  }

  /** How much memory the instance for the next stream holds. */
  get memoryBytes(): number {
    return this.#alive().memoryBytes;
  }

  /**
   * An instance that crashed is thrown away. So is one that a large answer made large, because WebAssembly gives no memory
   * back; streams that run in it keep it until they end.
   */
  #alive(): Instance {
    if (this.#instance.crashed || this.#instance.memoryBytes > MAX_MEMORY) {
      this.#instance = new Instance(this.#module);
    }
    return this.#instance;
  }
}

const MAX_MEMORY = 32 << 20;

// As crates/sluice-wasm/src/questions.rs numbers them.
const DECISION = 0;
const AS_STREAM = 1;

/** One answer being received. */
export class ResponseStream {
  readonly #instance: Instance;
  readonly #handle: number;
  #isTerminal = false;
  #isFinished = false;

  constructor(instance: Instance, options: StreamOptions, dialect = 0) {
    this.#instance = instance;
    const flags = dialect | (options.trace ? TRACE : 0) | (options.plainCallIds ? PLAIN_CALL_IDS : 0);
    this.#handle = instance.open(flags, options.toolNames);
  }

  /** Whether the server has said how the answer ended. */
  get isTerminal(): boolean {
    return this.#isTerminal;
  }

  /** Takes the next bytes of the body, however they were cut. */
  push(chunk: Uint8Array): Output[] {
    const outputs: Output[] = [];
    if (this.#takesMore()) {
      this.#isTerminal = this.#instance.push(this.#handle, chunk, outputs);
    }
    return outputs;
  }

  protected pushText(json: string): Output[] {
    const outputs: Output[] = [];
    if (this.#takesMore()) {
      this.#isTerminal = this.#instance.pushChunk(this.#handle, json, outputs);
    }
    return outputs;
  }

  #takesMore(): boolean {
    if (this.#isFinished) {
      throw new CoreError("push after finish");
    }
    return !this.#isTerminal;
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

  /** The same, and what to do now. */
  conclude(end: BodyEnd, attempt: Attempt): Decision & { outputs: Output[] } {
    const { outputs } = this.finish(end);
    return { outputs, ...this.#instance.decide({ ...attempt, end }) };
  }
}

/** One answer being received as AI SDK chunks. */
export class ChunkStream extends ResponseStream {
  /** Takes one chunk as JSON, which `chunkToJson` makes of any JavaScript value. */
  pushChunk(json: string): Output[] {
    return this.pushText(json);
  }
}

interface Exports {
  readonly memory: WebAssembly.Memory;
  header(): number;
  input_window(length: number): number;
  ask(question: number, length: number): void;
  stream_open(flags: number, length: number): number;
  stream_push(handle: number, length: number): void;
  stream_push_chunk(handle: number, length: number): void;
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
const ANSWER = 9;
const PROBLEM = 10;
const ROWS = 0;
const TABLE = 1;
const ARENA = 2;
const ARENA_BYTES = 3;
const ARENA_UNITS = 4;
const IS_TERMINAL = 5;
const TRACE = 1;
const PLAIN_CALL_IDS = 2;
const AI_SDK = 4;
const BODY_ENDS: Record<BodyEnd, number> = { eof: 0, cancelled: 1, idleTimeout: 2, broken: 3 };

/** One instance of the WebAssembly module, and the views onto its memory. */
class Instance {
  crashed = false;
  readonly #exports: Exports;
  readonly #encoder = new TextEncoder();
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

  get memoryBytes(): number {
    return this.#exports.memory.buffer.byteLength;
  }

  open(flags: number, toolNames: ToolNames | undefined): number {
    this.#checkAlive();
    try {
      const length = toolNames === undefined ? 0 : this.#write(this.#encoder.encode(JSON.stringify(toolNames)));
      return this.#exports.stream_open(flags, length);
    } catch (cause) {
      throw this.#crash(cause);
    }
  }

  decide(attempt: Attempt & { end?: BodyEnd; answer?: HttpAnswer; transport?: Transport }): Decision {
    return this.ask(DECISION, { ...attempt, random: Math.random(), now: Math.floor(Date.now() / 1000) });
  }

  ask<T>(question: number, value: unknown): T {
    this.#checkAlive();
    try {
      this.#exports.ask(question, this.#write(this.#encoder.encode(JSON.stringify(value))));
    } catch (cause) {
      throw this.#crash(cause);
    }
    this.#refreshViews();
    const words = this.#words;
    const header = this.#header;
    const kind = words[words[header + TABLE]! >>> 2];
    const text = this.#decode(words[header + ARENA]!, words[header + ARENA_BYTES]!, words[header + ARENA_UNITS]!);
    if (kind === PROBLEM) {
      throw new QuestionError(text);
    }
    if (kind !== ANSWER) {
      throw this.#crash(new Error(`unknown row kind ${kind}`));
    }
    return JSON.parse(text) as T;
  }

  push(handle: number, chunk: Uint8Array, outputs: Output[]): boolean {
    this.#checkAlive();
    try {
      this.#exports.stream_push(handle, this.#write(chunk));
    } catch (cause) {
      throw this.#crash(cause);
    }
    this.#read(outputs);
    return this.#words[this.#header + IS_TERMINAL] === 1;
  }

  pushChunk(handle: number, json: string, outputs: Output[]): boolean {
    this.#checkAlive();
    try {
      // No UTF-16 unit needs more than three bytes.
      this.#makeRoom(json.length * 3);
      const window = this.#bytes.subarray(this.#windowAddress, this.#windowAddress + this.#windowLength);
      this.#exports.stream_push_chunk(handle, this.#encoder.encodeInto(json, window).written);
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

  /** Puts bytes into the input window. */
  #write(bytes: Uint8Array): number {
    this.#makeRoom(bytes.length);
    this.#bytes.set(bytes, this.#windowAddress);
    return bytes.length;
  }

  #makeRoom(length: number): void {
    if (length > this.#windowLength) {
      this.#windowLength = Math.max(length, 64 * 1024);
      this.#windowAddress = this.#exports.input_window(this.#windowLength);
    }
    this.#refreshViews();
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
