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

import type { BodyEnd, Citation, Failure, HttpAnswer, Note, Outcome, ThinkingReplay, Transport } from "./boundary.js";

import type { Attempt, Decision, Output, StreamOptions, ToolNames } from "./stream-types.js";

export type * from "./boundary.js";
export type * from "./stream-types.js";

/** The core was used wrongly, crashed on a question, or could not be started. */
export class CoreError extends Error {
  override readonly name = "CoreError";
}

/** The question was wrong; the message says how, in words fit to show. */
export class QuestionError extends Error {
  override readonly name = "QuestionError";
}

/** Compiles the core and starts its first instance. Later instances reuse the compiled module. */
export async function loadCore(wasm: BufferSource | WebAssembly.Module): Promise<Core> {
  // Functions are compiled when they are first called: to check the module here takes less time than to wait for another
  // thread to do it.
  return new Core(wasm instanceof WebAssembly.Module ? wasm : new WebAssembly.Module(wasm));
}

/**
 * Opens streams. Each stream that runs has an instance of the module to itself, so a stream that uses up its memory or crashes
 * ends alone. Instances are reused: an idle one is given to the next stream.
 */
export class Core {
  readonly #module: WebAssembly.Module;
  readonly #idle: Instance[];

  constructor(module: WebAssembly.Module) {
    this.#module = module;
    this.#idle = [new Instance(module)];
  }

  openStream(options: StreamOptions = {}): ResponseStream {
    return new ResponseStream(this.#take(), this.#giveBack, options);
  }

  /** A stream of the Vercel AI SDK's chunks: `fullStream`, or a UI message stream. */
  openChunkStream(options: StreamOptions = {}): ChunkStream {
    return new ChunkStream(this.#take(), this.#giveBack, options, AI_SDK);
  }

  /** What to do after an attempt that gave no stream: an answer of another kind, or none at all. */
  decideWithoutStream(attempt: Attempt, why: { answer: HttpAnswer } | { transport: Transport }): Decision {
    return this.#with((instance) => instance.decide({ ...attempt, ...why }));
  }

  /** The stream that says the same as a whole answer in JSON; null if the JSON is no answer. */
  asStream(json: string): string | null {
    return this.#with((instance) => instance.ask(AS_STREAM, json));
  }

  #with<T>(use: (instance: Instance) => T): T {
    const instance = this.#take();
    try {
      return use(instance);
    } finally {
      this.#giveBack(instance);
    }
  }

  /** How much memory the idle instances hold. */
  get memoryBytes(): number {
    return this.#idle.reduce((sum, instance) => sum + instance.memoryBytes, 0);
  }

  #take(): Instance {
    try {
      return this.#idle.pop() ?? new Instance(this.#module);
    } catch (cause) {
      throw new CoreError("There is no memory left to read another answer. Wait until one of the others has ended.", { cause });
    }
  }

  /**
   * Keeps an instance for the next stream, unless it crashed or a large answer made it large: WebAssembly never gives memory
   * back. An instance whose stream is never finished is collected together with the stream.
   */
  readonly #giveBack = (instance: Instance): void => {
    if (!instance.crashed && instance.memoryBytes <= MAX_IDLE_MEMORY && this.#idle.length < MAX_IDLE) {
      this.#idle.push(instance);
    }
  };
}

const MAX_IDLE = 4;
const MAX_IDLE_MEMORY = 8 << 20;
/** Larger chunks are pushed in pieces of this size, so that the core never holds all of one beside what it made of it. */
const MAX_PIECE = 1 << 20;

// As crates/sluice-wasm/src/questions.rs numbers them.
const DECISION = 0;
const AS_STREAM = 1;

/** One answer being received. */
export class ResponseStream {
  readonly #instance: Instance;
  readonly #giveBack: (instance: Instance) => void;
  readonly #handle: number;
  #isTerminal = false;
  #isFinished = false;

  constructor(instance: Instance, giveBack: (instance: Instance) => void, options: StreamOptions, dialect = 0) {
    this.#instance = instance;
    this.#giveBack = giveBack;
    const flags = dialect | (options.trace ? TRACE : 0) | (options.plainCallIds ? PLAIN_CALL_IDS : 0);
    this.#handle = instance.open(flags, options.toolNames);
  }

  /** Whether the server has said how the answer ended. */
  get isTerminal(): boolean {
    return this.#isTerminal;
  }

  /** Takes the next bytes of the body, however they were cut. If the core crashes on them, the outcome says so. */
  push(chunk: Uint8Array): Output[] {
    const outputs: Output[] = [];
    this.#checkUnfinished();
    for (let at = 0; at < chunk.length && !this.#isTerminal; at += MAX_PIECE) {
      const piece = chunk.length <= MAX_PIECE ? chunk : chunk.subarray(at, at + MAX_PIECE);
      this.#isTerminal = this.#instance.push(this.#handle, piece, outputs);
    }
    return outputs;
  }

  protected pushText(json: string): Output[] {
    const outputs: Output[] = [];
    this.#checkUnfinished();
    if (!this.#isTerminal) {
      this.#isTerminal = this.#instance.pushChunk(this.#handle, json, outputs);
    }
    return outputs;
  }

  #checkUnfinished(): void {
    if (this.#isFinished) {
      throw new CoreError("push after finish");
    }
  }

  /** Ends the stream, says what it amounts to, and frees its memory. */
  finish(end: BodyEnd): { outputs: Output[]; outcome: Outcome } {
    const outputs: Output[] = [];
    const outcome = this.#end(end, outputs);
    this.#giveBack(this.#instance);
    return { outputs, outcome };
  }

  /** The same, and what to do now. */
  conclude(end: BodyEnd, attempt: Attempt): Decision & { outputs: Output[] } {
    const outputs: Output[] = [];
    const outcome = this.#end(end, outputs);
    if (this.#instance.crashed) {
      const { message, next, kind } = outcome.error!;
      return { outputs, outcome, usage: null, step: { type: "reject", message: `${message} ${next}`, kind } };
    }
    const decision = this.#instance.decide({ ...attempt, end });
    this.#giveBack(this.#instance);
    return { outputs, ...decision };
  }

  #end(end: BodyEnd, outputs: Output[]): Outcome {
    if (this.#isFinished) {
      throw new CoreError("finish called twice");
    }
    this.#isFinished = true;
    this.#isTerminal = true;
    return this.#instance.finish(this.#handle, end, outputs);
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
  ran_out_of_memory(): number;
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
  /** The first trap. It leaves the memory in no known state, so the exports aren't called again. */
  #trap: CoreError | undefined;
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

  get crashed(): boolean {
    return this.#trap !== undefined;
  }

  get memoryBytes(): number {
    return this.#exports.memory.buffer.byteLength;
  }

  open(flags: number, toolNames: ToolNames | undefined): number {
    const names = toolNames === undefined ? "" : JSON.stringify(toolNames);
    try {
      return this.#exports.stream_open(flags, this.#write(this.#encoder.encode(names)));
    } catch (cause) {
      throw this.#crash(cause);
    }
  }

  decide(attempt: Attempt & { end?: BodyEnd; answer?: HttpAnswer; transport?: Transport }): Decision {
    return this.ask(DECISION, { ...attempt, random: Math.random(), now: Math.floor(Date.now() / 1000) });
  }

  ask<T>(question: number, value: unknown): T {
    const json = this.#encoder.encode(JSON.stringify(value));
    try {
      this.#exports.ask(question, this.#write(json));
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

  /** Whether the stream has ended, which it also has if the core crashed. */
  push(handle: number, chunk: Uint8Array, outputs: Output[]): boolean {
    try {
      this.#exports.stream_push(handle, this.#write(chunk));
    } catch (cause) {
      this.#crash(cause);
      return true;
    }
    this.#read(outputs);
    return this.#words[this.#header + IS_TERMINAL] === 1;
  }

  pushChunk(handle: number, json: string, outputs: Output[]): boolean {
    try {
      this.#exports.stream_push_chunk(handle, this.#writeText(json));
    } catch (cause) {
      this.#crash(cause);
      return true;
    }
    this.#read(outputs);
    return this.#words[this.#header + IS_TERMINAL] === 1;
  }

  finish(handle: number, end: BodyEnd, outputs: Output[]): Outcome {
    if (this.#trap === undefined) {
      try {
        this.#exports.stream_finish(handle, BODY_ENDS[end]);
        return JSON.parse(this.#read(outputs)!) as Outcome;
      } catch (cause) {
        this.#crash(cause);
      }
    }
    return this.#lost();
  }

  /** Puts bytes into the input window. */
  #write(bytes: Uint8Array): number {
    this.#makeRoom(bytes.length);
    this.#bytes.set(bytes, this.#windowAddress);
    return bytes.length;
  }

  #writeText(text: string): number {
    // No UTF-16 unit needs more than three bytes. A long text is measured first, because that much room may be too much.
    if (text.length > 1 << 20) {
      return this.#write(this.#encoder.encode(text));
    }
    this.#makeRoom(text.length * 3);
    return this.#encoder.encodeInto(text, this.#bytes.subarray(this.#windowAddress, this.#windowAddress + this.#windowLength)).written;
  }

  #makeRoom(length: number): void {
    if (length > this.#windowLength) {
      this.#windowLength = Math.max(length, 64 * 1024);
      this.#windowAddress = this.#exports.input_window(this.#windowLength);
    }
    this.#refreshViews();
  }

  #crash(cause: unknown): CoreError {
    this.#trap ??= new CoreError("the core crashed", { cause });
    return this.#trap;
  }

  /** The outcome of a stream that the core crashed on. */
  #lost(): Outcome {
    const isMemory = this.#exports.ran_out_of_memory() === 1;
    const error: Failure = {
      kind: isMemory ? "tooLarge" : "server",
      message: isMemory ? "This answer is too large: it used up the memory for one answer." : "Sluice crashed while it read this answer.",
      next: isMemory ? "Ask for a shorter answer." : "Ask again, and report this as a bug in Sluice if it happens again.",
      text: (isMemory ? (["outOfMemory", "askForShorter"] as const) : (["crashed", "reportCrash"] as const)).map((code) => ({
        code,
        args: [],
      })),
      ...{ code: null, tool: null, status: null, requestId: null, generationId: null, overflow: null },
      ...{ mayRetry: false, retryAfterMs: null },
    };
    const unknown = { reason: null, empty: null, responseId: null, model: null, usage: null, gateway: null };
    return { status: "failed", error, ...unknown, retrySafe: false };
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
