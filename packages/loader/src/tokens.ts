// The loader of the token counter (crates/sluice-tokens-wasm/src/lib.rs): loaded when there is time, never on the way to the
// first answer.
//
//   const tokens = await loadTokens(bytes);
//   tokens.countText("openai/gpt-5", "hello");      // one number; asked thousands of times a turn
//   tokens.countMessage("openai/gpt-5", message);   // with what stands around it in a request
//   tokens.countChat(chat);                         // the whole request, by what the tokens are spent on

import type {
  ChatMessage,
  ChatPart,
  ChatRequest,
  Estimate,
  Part,
  Preflight,
  Prices,
  RequestUsage,
  StatusLine,
  TokenBreakdown,
  Totals,
  Usage,
} from "./boundary.js";

/** A bug in the counter. The next count gets a fresh instance. */
export class TokensError extends Error {
  override readonly name = "TokensError";
}

/** Compiles the counter. Vocabularies are built when the first text of their models is counted, or by `prepare`. */
export async function loadTokens(wasm: BufferSource | WebAssembly.Module): Promise<Tokens> {
  const module = wasm instanceof WebAssembly.Module ? wasm : await WebAssembly.compile(wasm);
  return new Tokens(module);
}

/** A request begins. Times are milliseconds of any clock that does not jump. */
export interface RequestBegin {
  readonly id: string;
  readonly conversation: string;
  readonly chat: ChatRequest;
  /** What corrections are kept for: models of a family share a tokenizer. */
  readonly family: string;
  readonly maxInputTokens: number;
  readonly now: number;
}

export interface RequestOver {
  readonly id: string;
  readonly conversation: string;
  /** The parts that were given. */
  readonly answer: readonly (ChatPart | Part)[];
  readonly isCompleted: boolean;
  /** The server said that the answer is over. */
  readonly isAnswered: boolean;
  readonly usage: Usage | null;
  readonly cost: string | null;
  readonly prices: Prices | null;
  readonly now: number;
}

/** What an editor used in a day or a month with one model. */
export interface HistoryRow {
  readonly when: string;
  readonly model: string;
  readonly totals: Totals;
  readonly tokensPerSecond: number | null;
}

const FILE_STATES = ["good", "missing", "damaged", "newer"] as const;

/** Longer texts are rarely asked for twice, and would fill the memory. */
const MAX_CACHED_LENGTH = 2048;
/** Two generations of so many counts each: the older one is dropped when the newer is full. */
const MAX_CACHED = 16_384;

export class Tokens {
  readonly #module: WebAssembly.Module;
  #instance: Instance | undefined;
  /** By family, because models of one family count alike. */
  readonly #caches = new Map<number, Cache>();
  readonly #families = new Map<string, number>();
  /** Until the next answer. */
  readonly #factors = new Map<string, number>();
  /** The model of the last count: nearly all counts of a turn are for one. */
  #lastModel: string | undefined;
  #lastFamily = 0;
  #lastCache = new Cache();

  /** With the memory of another one, it goes on where that one was. */
  constructor(module: WebAssembly.Module, memory?: Uint8Array) {
    this.#module = module;
    if (memory !== undefined) {
      this.#instance = new Instance(module, memory);
    }
  }

  /** Builds the vocabulary of a model, so that no later call has to wait for it. Takes a tenth of a second or two. */
  prepare(model: string): void {
    this.countText(model, "a");
  }

  /** All that was built and learned so far: a copy for the same module on another thread. */
  memory(): Uint8Array<ArrayBuffer> {
    return this.#run((instance) => instance.memory());
  }

  /** The tokens of plain text. Special tokens in it are text like any other. */
  countText(model: string, text: string): number {
    if (model !== this.#lastModel) {
      this.#use(model);
    }
    const cache = this.#lastCache;
    let count = cache.young.get(text);
    if (count !== undefined) {
      return count;
    }
    count = cache.old.get(text) ?? this.#run((instance) => instance.countText(this.#lastFamily, text));
    if (text.length <= MAX_CACHED_LENGTH) {
      cache.add(text, count);
    }
    return count;
  }

  /** The tokens of a message, with what stands around it in a request. */
  countMessage(model: string, message: ChatMessage): number {
    const count = this.#run((instance) => instance.countMessage(model, JSON.stringify(message)));
    if (count === undefined) {
      throw new TypeError("this is not a chat message");
    }
    return count;
  }

  /** The tokens of a whole chat, by what they are spent on. */
  countChat(chat: ChatRequest): TokenBreakdown {
    return this.#breakdown("count_chat", JSON.stringify(chat), "a chat request");
  }

  /** The same for the JSON body of a request. */
  countRequest(body: string): TokenBreakdown {
    return this.#breakdown("count_request", body, "a request body");
  }

  /** Opens the books of an installation, whose key has 16 bytes. Says what the file turned out to be. */
  readBooks(key: Uint8Array, file: Uint8Array | undefined): (typeof FILE_STATES)[number] {
    const bytes = new Uint8Array(key.length + (file?.length ?? 0));
    bytes.set(key);
    bytes.set(file ?? [], key.length);
    this.#factors.clear();
    const state = this.#run((instance) => instance.readBooks(bytes, file !== undefined));
    return FILE_STATES[state] ?? "damaged";
  }

  /** What to write in the place of this file; nothing if it must be left alone. Call `booksSaved` when it is written. */
  saveBooks(file: Uint8Array | undefined): Uint8Array | undefined {
    return this.#run((instance) => instance.saveBooks(file));
  }

  booksSaved(): void {
    this.#run((instance) => instance.booksSaved());
  }

  /** How many tokens the request has, as far as anybody knows, and what to show. */
  begin(request: RequestBegin): { estimate: Estimate; warning: Preflight | null; status: StatusLine | null } {
    return this.#ask(BEGIN, { ...request, chat: JSON.stringify(request.chat), now: Math.round(request.now) });
  }

  /** A part has come. */
  part(id: string, isThinking: boolean, now: number): void {
    this.#ask(PART, { id, isThinking, now: Math.round(now) });
  }

  /** What the request used, and what to show. The next estimates know what the server counted. */
  end(request: RequestOver): { used: RequestUsage | null; status: StatusLine | null; conversation: Totals | null } {
    this.#factors.clear();
    const today = Math.floor(Date.now() / 86_400_000);
    return this.#ask(END, { ...request, now: Math.round(request.now), today });
  }

  history(period: "day" | "month"): HistoryRow[] {
    return this.#ask(HISTORY, period);
  }

  /** One message: what a server counted for it, else our count as far as servers agree with us. */
  messageTokens(model: string, family: string, message: ChatMessage): number {
    return this.#ask(MESSAGE, { model, family, message });
  }

  /** What counts of models of this family are multiplied by, going by what servers counted. */
  factor(family: string): number {
    let factor = this.#factors.get(family);
    if (factor === undefined) {
      factor = this.#ask<number>(FACTOR, family);
      this.#factors.set(family, factor);
    }
    return factor;
  }

  #ask<T>(question: number, value: unknown): T {
    const { text, isProblem } = this.#run((instance) => instance.ask(question, JSON.stringify(value)));
    if (isProblem) {
      throw new TypeError(text);
    }
    return JSON.parse(text) as T;
  }

  #breakdown(count: "count_chat" | "count_request", json: string, what: string): TokenBreakdown {
    const answer = this.#run((instance) => instance.countJson(count, json));
    if (answer === undefined) {
      throw new TypeError(`this is not ${what}`);
    }
    return JSON.parse(answer) as TokenBreakdown;
  }

  #use(model: string): void {
    let family = this.#families.get(model);
    if (family === undefined) {
      family = this.#run((instance) => instance.family(model));
      this.#families.set(model, family);
    }
    let cache = this.#caches.get(family);
    if (cache === undefined) {
      cache = new Cache();
      this.#caches.set(family, cache);
    }
    this.#lastModel = model;
    this.#lastFamily = family;
    this.#lastCache = cache;
  }

  /** A trap leaves the instance's memory in no known state, so nothing may use it again. */
  #run<T>(count: (instance: Instance) => T): T {
    try {
      this.#instance ??= new Instance(this.#module);
      return count(this.#instance);
    } catch (cause) {
      this.#instance = undefined;
      throw new TokensError("the token counter crashed", { cause });
    }
  }
}

// As crates/sluice-tokens-wasm/src/books.rs numbers them.
const BEGIN = 0;
const PART = 1;
const END = 2;
const HISTORY = 3;
const MESSAGE = 4;
const FACTOR = 5;

class Cache {
  young = new Map<string, number>();
  old = new Map<string, number>();

  add(text: string, count: number): void {
    if (this.young.size >= MAX_CACHED) {
      this.old = this.young;
      this.young = new Map();
    }
    this.young.set(text, count);
  }
}

interface Exports {
  readonly memory: WebAssembly.Memory;
  input_window(length: number): number;
  family(length: number): number;
  count_text(family: number, length: number): number;
  count_message(modelLength: number, length: number): number;
  count_chat(length: number): number;
  count_request(length: number): number;
  answer(): number;
  ask(question: number, length: number): number;
  books_read(length: number, hasFile: number): number;
  books_save(length: number, hasFile: number): number;
  books_file(): number;
  books_saved(): void;
}

/** What a count is that could not be made; read as signed. */
const BAD_INPUT = -1;
const PAGE = 64 * 1024;
const SMALLEST_WINDOW = 64 * 1024;
/** One large text must not hold its memory for ever. */
const LARGEST_WINDOW = 4 * 1024 * 1024;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** One instance of the WebAssembly module, and the view onto its memory. */
class Instance {
  readonly #exports: Exports;
  #bytes: Uint8Array<ArrayBuffer>;
  #windowAddress = 0;
  #windowLength = 0;

  constructor(module: WebAssembly.Module, memory?: Uint8Array) {
    this.#exports = new WebAssembly.Instance(module).exports as unknown as Exports;
    if (memory !== undefined) {
      // Everything an instance knows lies in its memory, as long as none of its functions runs.
      this.#exports.memory.grow((memory.length - this.#exports.memory.buffer.byteLength) / PAGE);
      new Uint8Array(this.#exports.memory.buffer).set(memory);
    }
    this.#bytes = new Uint8Array(this.#exports.memory.buffer as ArrayBuffer);
    this.#reserve(SMALLEST_WINDOW);
  }

  memory(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#exports.memory.buffer as ArrayBuffer).slice();
  }

  family(model: string): number {
    return this.#exports.family(this.#write(model));
  }

  countText(family: number, text: string): number {
    const count = this.#exports.count_text(family, this.#write(text));
    if (this.#windowLength > LARGEST_WINDOW) {
      this.#reserve(SMALLEST_WINDOW);
    }
    return count;
  }

  countMessage(model: string, json: string): number | undefined {
    const modelLength = encoder.encode(model).length;
    const count = this.#exports.count_message(modelLength, this.#write(model + json));
    return count === BAD_INPUT ? undefined : count;
  }

  countJson(count: "count_chat" | "count_request", json: string): string | undefined {
    const length = this.#exports[count](this.#write(json));
    if (length === BAD_INPUT) {
      return undefined;
    }
    this.#refreshView();
    const address = this.#exports.answer();
    return decoder.decode(this.#bytes.subarray(address, address + length));
  }

  ask(question: number, json: string): { text: string; isProblem: boolean } {
    const answer = this.#exports.ask(question, this.#write(json));
    this.#refreshView();
    const address = this.#exports.answer();
    const text = decoder.decode(this.#bytes.subarray(address, address + (answer & 0x7fff_ffff)));
    return { text, isProblem: answer < 0 };
  }

  readBooks(bytes: Uint8Array, hasFile: boolean): number {
    return this.#exports.books_read(this.#writeBytes(bytes), hasFile ? 1 : 0);
  }

  saveBooks(file: Uint8Array | undefined): Uint8Array | undefined {
    const length = this.#exports.books_save(this.#writeBytes(file ?? new Uint8Array()), file === undefined ? 0 : 1);
    this.#refreshView();
    const address = this.#exports.books_file();
    return length === 0 ? undefined : this.#bytes.slice(address, address + length);
  }

  booksSaved(): void {
    this.#exports.books_saved();
  }

  #writeBytes(bytes: Uint8Array): number {
    if (bytes.length > this.#windowLength) {
      this.#reserve(bytes.length);
    }
    this.#refreshView();
    this.#bytes.set(bytes, this.#windowAddress);
    return bytes.length;
  }

  /** Puts text into the window as UTF-8; gives its length. Halves of surrogate pairs become U+FFFD. */
  #write(text: string): number {
    const units = text.length;
    this.#refreshView();
    const bytes = this.#bytes;
    const start = this.#windowAddress;
    // Short keys and values of tool schemas: faster here than in the encoder behind a call.
    if (units <= 48) {
      let at = 0;
      for (; at < units; at++) {
        const unit = text.charCodeAt(at);
        if (unit > 0x7f) {
          break;
        }
        bytes[start + at] = unit;
      }
      if (at === units) {
        return units;
      }
    }
    // No UTF-16 unit takes more than three bytes.
    if (units * 3 > this.#windowLength) {
      this.#reserve(units * 3);
    }
    const window = this.#bytes.subarray(this.#windowAddress, this.#windowAddress + this.#windowLength);
    return encoder.encodeInto(text, window).written;
  }

  #reserve(length: number): void {
    this.#windowLength = Math.max(length, SMALLEST_WINDOW);
    this.#windowAddress = this.#exports.input_window(this.#windowLength) >>> 0;
    this.#refreshView();
  }

  /** Memory that grew is a new buffer, and the view onto the old one is empty. */
  #refreshView(): void {
    if (this.#bytes.length === 0) {
      this.#bytes = new Uint8Array(this.#exports.memory.buffer as ArrayBuffer);
    }
  }
}
