// The loader of the token counter and the ledger (crates/sluice-tokens-wasm). It is loaded when there is time, never
// before the first answer.
//
//   const tokens = await loadTokens(bytes);
//   tokens.countText("openai/gpt-5", "gpt-5", "hello");  // one number; VS Code asks thousands of times in a turn

import type {
  Begun,
  ChatMessage,
  Ended,
  HistoryPeriod,
  HistoryRow,
  LedgerModel,
  LedgerTask,
  LimitState,
  RecordsQuestion,
  SpendChoice,
  TokensQuestion,
} from "./boundary.js";
import { compile, Instance } from "./module.js";
import { runWork, type Shell, type WorkExports } from "./work.js";

/** Compiles the counter. Its vocabularies are ready for use. */
export async function loadTokens(wasm: BufferSource | WebAssembly.Module): Promise<Tokens> {
  return new Tokens(await compile(wasm));
}

interface TokensExports extends WorkExports {
  ask(length: number): void;
  tokenizer(length: number): number;
  count_text(tokenizer: number, length: number): number;
  lacks_vocabulary(length: number): number;
  load_vocabulary(length: number): number;
  scope(length: number): number;
  corrected(scope: number, count: number): number;
  records_add(length: number): void;
}

/** Returns the number of days since 1970. */
const today = (): number => Math.floor(Date.now() / 86_400_000);

/** Longer texts are rarely counted twice, and would fill the memory. */
const MAX_CACHED_LENGTH = 2048;
/** There are two generations of this many counts: the older one is dropped when the newer one is full. */
const MAX_CACHED = 16_384;

/** How the text of a model is counted. */
interface ModelCounts {
  readonly model: string;
  readonly origin: string;
  readonly tokenizer: number;
  readonly scope: number;
  /** Counts without correction; models with the same tokenizer share them. */
  readonly cache: Cache;
}

/**
 * Counts tokens and keeps the ledger. If the core crashes, the ledger is lost, and the next call gets a new instance.
 */
export class Tokens {
  readonly #module: WebAssembly.Module;
  #instance: Instance<TokensExports> | undefined;
  readonly #caches = new Map<number, Cache>();
  readonly #models = new Map<string, ModelCounts>();
  /** The model of the last count. Nearly all counts of a turn are for the same model. */
  #last: ModelCounts | undefined;

  constructor(module: WebAssembly.Module) {
    this.#module = module;
  }

  /** Returns whether a model's texts are only estimated until the file `gemma.vocabulary` is loaded. */
  lacksVocabulary(model: string): boolean {
    const instance = this.#use();
    return instance.run((exports) => exports.lacks_vocabulary(instance.writeText(model))) !== 0;
  }

  /** Loads the file `gemma.vocabulary`. Returns whether it is valid. */
  loadVocabulary(file: Uint8Array): boolean {
    const instance = this.#use();
    const isValid = instance.run((exports) => exports.load_vocabulary(instance.writeBytes(file))) !== 0;
    // Counts made without it are not kept.
    this.#caches.clear();
    this.#models.clear();
    this.#last = undefined;
    return isValid;
  }

  /** Counts the tokens of a text and applies the server's correction factor. Special tokens count as plain text. */
  countText(model: string, origin: string, text: string): number {
    const instance = this.#use();
    let counts = this.#last;
    if (counts?.model !== model || counts.origin !== origin) {
      counts = this.#last = this.#model(instance, model, origin);
    }
    let count = counts.cache.get(text);
    if (count === undefined) {
      const { tokenizer } = counts;
      count = instance.run((exports) => exports.count_text(tokenizer, instance.writeText(text)));
      if (text.length <= MAX_CACHED_LENGTH) {
        counts.cache.add(text, count);
      }
    }
    return instance.exports.corrected(counts.scope, count);
  }

  /** Returns the tokens of a message: the server's count if there is one, otherwise our own, corrected. */
  countMessage(model: string, origin: string, message: ChatMessage): number {
    return this.#ask({ message: { model, origin, message } });
  }

  /** Works on the files that all windows share. Tasks must not overlap. */
  work<T>(task: LedgerTask, folder: Shell): Promise<T> {
    return runWork(this.#use(), task, folder);
  }

  /** A request begins; `chat` is the JSON of its `ChatRequest`. Returns how many tokens it has, as far as known, and what to show. */
  begin(id: string, conversation: string, chat: Uint8Array, model: LedgerModel, now: number): Begun {
    const rest = JSON.stringify({ id, conversation, model, now: Math.round(now) });
    return this.#askJson(['{"begin":{"chat":', chat, `,${rest.slice(1)}}`]);
  }

  /** A request is over. `entry` is the ledger entry of its exchange, or nothing if there was no exchange. Returns what it used. */
  end(id: string, entry: string | undefined, now: number): Ended | null {
    const rest = JSON.stringify({ id, now: Math.round(now), today: today() });
    return this.#askJson(`{"end":{"entry":${entry ?? "{}"},${rest.slice(1)}}`);
  }

  /** Remembers what the user decided about the limit of a verdict. */
  chooseSpending(id: string, choice: SpendChoice, limit: LimitState | null): void {
    this.#ask({ chooseSpending: { id, choice, limit } });
  }

  /** Returns what was used, by day or month and by model, the newest first. */
  history(period: HistoryPeriod): HistoryRow[] {
    return this.#ask({ history: period });
  }

  /** Returns an empty collection of records. It has an instance of its own, which is freed with it. */
  records(): Records {
    return new Records(this.#module);
  }

  #ask<T>(question: TokensQuestion): T {
    return this.#askJson(JSON.stringify(question));
  }

  #askJson<T>(question: string | readonly (string | Uint8Array)[]): T {
    return this.#use().ask(question, (exports, length) => exports.ask(length));
  }

  #model(instance: Instance<TokensExports>, model: string, origin: string): ModelCounts {
    const key = `${origin}\n${model}`;
    let counts = this.#models.get(key);
    if (counts === undefined) {
      const tokenizer = instance.run((exports) => exports.tokenizer(instance.writeText(model)));
      const scope = instance.run((exports) => exports.scope(instance.writeText(key)));
      let cache = this.#caches.get(tokenizer);
      if (cache === undefined) {
        cache = new Cache();
        this.#caches.set(tokenizer, cache);
      }
      counts = { model, origin, tokenizer, scope, cache };
      this.#models.set(key, counts);
    }
    return counts;
  }

  #use(): Instance<TokensExports> {
    if (this.#instance === undefined || this.#instance.crashed) {
      // Numbers from the old instance mean nothing to the new one.
      this.#models.clear();
      this.#last = undefined;
      this.#instance = new Instance(this.#module);
    }
    return this.#instance;
  }
}

/** The records of requests, for an inspector. */
export class Records {
  readonly #instance: Instance<TokensExports>;

  constructor(module: WebAssembly.Module) {
    this.#instance = new Instance(module);
  }

  /** Adds the records in the files of all windows. */
  read(folder: Shell): Promise<void> {
    return runWork(this.#instance, "readRecords" satisfies LedgerTask, folder);
  }

  /** Adds records: JSON, one on each line. */
  add(lines: Uint8Array): void {
    this.#instance.run((exports) => exports.records_add(this.#instance.writeBytes(lines)));
  }

  ask<T>(question: RecordsQuestion): T {
    return this.#instance.ask(JSON.stringify({ records: question } satisfies TokensQuestion), (exports, length) => exports.ask(length));
  }
}

class Cache {
  #young = new Map<string, number>();
  #old = new Map<string, number>();

  get(text: string): number | undefined {
    return this.#young.get(text) ?? this.#old.get(text);
  }

  add(text: string, count: number): void {
    if (this.#young.size >= MAX_CACHED) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(text, count);
  }
}
