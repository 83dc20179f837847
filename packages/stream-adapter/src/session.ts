// One stream from its first item to its outcome: items go to the core, outputs come back, the end resolves or rejects.

import type { ChunkStream, Core, Note, Outcome, Output, ResponseStream } from "../../../crates/sluice-wasm/js/src/core.js";
import { chunkToJson } from "../../../crates/sluice-wasm/js/src/chunks.js";
import { PartMaker, lookUpVSCode, type VSCodeClasses } from "./parts.js";
import { isCancelled, itemsOf, onCancel, type Cancellation, type Item, type Items } from "./source.js";
import { theCore } from "./wasm.js";

export interface AdapterLogger {
  debug(message: string, ...args: unknown[]): void;
  warn(message: string, ...args: unknown[]): void;
  error(message: string, ...args: unknown[]): void;
}

export interface StreamAdapterOptions {
  /** The `vscode` module, or what is used of it. Looked up when not given. */
  vscode?: VSCodeClasses;
  /** Forward the model's thinking, where this VS Code can show it. Default: true. */
  enableReasoning?: boolean;
  /** Gets every chunk of a kind that is not known. It never becomes output. */
  onUnknownChunk?: (chunk: unknown) => void;
  /** Default: `console`. Never gets what the model or the user said. */
  logger?: AdapterLogger;
  /**
   * Prefix call ids with `gw-`, so that they cannot be confused with another provider's in the same conversation. Default: true for
   * Open Responses, false for the AI SDK, whose messages need their own ids back.
   */
  prefixCallIds?: boolean;
  /**
   * Report what the server counted as a data part of the type `usage` at the end. VS Code's chat reads it; without it the context
   * indicator stays at zero and long chats are never summarized. Default: false.
   */
  reportUsage?: boolean;
}

/** What the server counted; `null` where it said nothing. */
export interface StreamUsage {
  inputTokens: number | null;
  outputTokens: number | null;
}

export interface Settings extends Required<Omit<StreamAdapterOptions, "vscode">> {
  vscode: VSCodeClasses | undefined;
  dialect: "openResponses" | "aiSdk";
}

export const NO_USAGE: StreamUsage = { inputTokens: null, outputTokens: null };

/** One stream being read. `step` until it says that there is no more; `close` in any case. */
export class Session {
  outcome: Outcome | undefined;
  readonly #settings: Settings;
  readonly #parts: PartMaker;
  readonly #stream: ResponseStream;
  readonly #items: Items;
  readonly #cancellation: Cancellation | undefined;
  readonly #encoder = new TextEncoder();
  /** Ends the wait for an item. */
  #wake: (() => void) | undefined;
  #stopListening: () => void = () => {};
  #isFinished = false;
  /** The first half of a character that a text was cut in. */
  #half = "";

  private constructor(stream: ResponseStream, parts: PartMaker, settings: Settings, items: Items, cancellation?: Cancellation) {
    this.#stream = stream;
    this.#parts = parts;
    this.#settings = settings;
    this.#items = items;
    this.#cancellation = cancellation;
    this.#stopListening = onCancel(cancellation, () => {
      this.#items.stop();
      this.#wake?.();
    });
  }

  static async open(source: unknown, settings: Settings, cancellation?: Cancellation): Promise<Session> {
    const [core, vscode, given] = await Promise.all([theCore(), settings.vscode ?? lookUpVSCode(), source]);
    const items = itemsOf(isResponse(given) ? await bodyOf(given, core) : given);
    const options = { plainCallIds: !settings.prefixCallIds };
    const stream = settings.dialect === "aiSdk" ? core.openChunkStream(options) : core.openStream(options);
    const parts = new PartMaker(vscode, settings.enableReasoning);
    return new Session(stream, parts, settings, items, cancellation);
  }

  /** Reads all there is. Throws if the end is not how an answer should end. */
  async run(report: (part: object) => void): Promise<void> {
    let goesOn = true;
    while (goesOn) {
      let next: Item;
      try {
        next = await this.#next();
      } catch (error) {
        return this.#broken(error, report);
      }
      goesOn = this.#take(next, report);
    }
  }

  /** Reads the next item only, and says whether there may be more. */
  async step(report: (part: object) => void): Promise<boolean> {
    let next: Item;
    try {
      next = await this.#next();
    } catch (error) {
      this.#broken(error, report);
      return false;
    }
    return this.#take(next, report);
  }

  #next(): Promise<Item> {
    if (this.#cancellation === undefined || this.#items.stopsWaiting) {
      return this.#items.next();
    }
    return new Promise((resolve, reject) => {
      this.#wake = () => resolve({ done: true });
      this.#items.next().then(resolve, reject);
    });
  }

  #take(next: Item, report: (part: object) => void): boolean {
    if (isCancelled(this.#cancellation)) {
      this.#finish("cancelled", report);
      return false;
    }
    if (next.done) {
      this.#finish("eof", report);
      return false;
    }
    for (const output of this.#push(next.value)) {
      this.#give(output, report, next.value);
    }
    if (this.#stream.isTerminal) {
      this.#finish("eof", report);
    }
    return !this.#stream.isTerminal;
  }

  /** Nobody reads any more. */
  close(): void {
    this.#stopListening();
    this.#items.stop();
    // Left in the middle: by the caller, or because a part could not be reported.
    if (this.outcome === undefined && !this.#isFinished) {
      this.outcome = this.#stream.finish("cancelled").outcome;
    }
  }

  #push(item: unknown): Output[] {
    if (item instanceof Uint8Array) {
      return this.#stream.push(item);
    }
    if (typeof item === "string") {
      return this.#stream.push(this.#encode(item));
    }
    if (ArrayBuffer.isView(item) || item instanceof ArrayBuffer) {
      return this.#stream.push(ArrayBuffer.isView(item) ? new Uint8Array(item.buffer, item.byteOffset, item.byteLength) : new Uint8Array(item));
    }
    if (this.#settings.dialect === "aiSdk") {
      return (this.#stream as ChunkStream).pushChunk(chunkToJson(item));
    }
    // An event that somebody parsed already.
    return this.#stream.push(this.#encoder.encode(`data: ${chunkToJson(item)}\n\n`));
  }

  #encode(text: string): Uint8Array {
    const whole = this.#half + text;
    const last = whole.charCodeAt(whole.length - 1);
    const isHalf = last >= 0xd800 && last <= 0xdbff;
    this.#half = isHalf ? whole.slice(-1) : "";
    return this.#encoder.encode(isHalf ? whole.slice(0, -1) : whole);
  }

  #give(output: Output, report: (part: object) => void, item?: unknown): void {
    if (output.type === "note") {
      this.#note(output, item);
    } else {
      this.#parts.make(output, report);
    }
  }

  #note(note: Note, item: unknown): void {
    const { logger, onUnknownChunk } = this.#settings;
    logger[LOUD.has(note.kind) ? "warn" : "debug"](`${EXPLAINED[note.kind] ?? note.kind}: ${note.detail}`);
    if (note.kind === "unknownEvent" || note.kind === "malformed") {
      const isBytes = typeof item === "string" || ArrayBuffer.isView(item) || item instanceof ArrayBuffer;
      try {
        onUnknownChunk(isBytes ? { type: note.detail } : item);
      } catch (error) {
        logger.error("onUnknownChunk threw", error);
      }
    }
  }

  #finish(end: "eof" | "cancelled" | "broken", report: (part: object) => void, cause?: unknown): void {
    this.#isFinished = true;
    const circumstances = { host: "", attempt: 1, calledTool: false };
    const { outputs, outcome, usage } = this.#settings.reportUsage
      ? this.#stream.conclude(end, circumstances)
      : { ...this.#stream.finish(end), usage: null };
    this.outcome = outcome;
    for (const output of outputs) {
      this.#give(output, report);
    }
    if (usage !== null && end !== "cancelled") {
      this.#parts.makeUsage(usage, report);
    }
    const { logger } = this.#settings;
    for (const name of this.#parts.missing) {
      logger.debug(`this VS Code has no ${name}: parts that need it were left out`);
    }
    switch (outcome.status) {
      case "completed":
        break;
      case "incomplete":
        logger.warn(`the answer is incomplete: ${outcome.reason ?? "no reason given"}`);
        break;
      case "cancelled":
        // The SDK was aborted, and not by the caller of this stream.
        if (this.#cancellation !== undefined && !isCancelled(this.#cancellation)) {
          throw failed("The answer was aborted.", outcome, cause);
        }
        break;
      case "failed":
        throw failed(outcome.error?.message ?? "The answer failed.", outcome, cause);
      case "truncated":
        throw failed(`The answer ended before it was complete (${outcome.reason ?? "cut off"}). Try again.`, outcome, cause);
    }
  }

  /** The source threw. */
  #broken(error: unknown, report: (part: object) => void): void {
    const name = (error as { name?: unknown } | null)?.name;
    if (isCancelled(this.#cancellation) || name === "AbortError") {
      this.#isFinished = true;
      this.outcome = this.#stream.finish("cancelled").outcome;
      return;
    }
    this.#settings.logger.error("the stream broke", error);
    try {
      this.#finish("broken", report, error);
    } catch (failure) {
      const message = (error as { message?: unknown } | null)?.message ?? error;
      const words = String(message).split("\n", 1)[0]!.trim().slice(0, 300);
      if (this.outcome?.status === "truncated" && words !== "") {
        throw failed(`The answer broke off: ${words}`, this.outcome, error);
      }
      throw failure;
    }
  }
}

/** Notes that a developer wants to see without asking. */
const LOUD = new Set<Note["kind"]>(["malformed", "ranElsewhere", "droppedCall", "orphanArguments", "takenBack"]);
const EXPLAINED: Partial<Record<Note["kind"], string>> = {
  unknownEvent: "a chunk of an unknown kind",
  malformed: "a chunk that cannot be read",
  ranElsewhere: "not for VS Code to run, because the provider or the AI SDK (a tool with `execute`) runs it itself",
  droppedCall: "a tool call that was cut off",
  repeatedCall: "a tool call that was reported already",
  orphanArguments: "pieces of a tool call that never began",
  takenBack: "parts that VS Code has already cannot be taken back",
};

/** Plain, short, and without a stack: VS Code shows it to people. */
function failed(message: string, outcome: Outcome, cause: unknown): Error {
  const error = cause === undefined ? new Error(message) : new Error(message, { cause });
  error.stack = `Error: ${message}`;
  return Object.assign(error, { outcome, failure: outcome.error });
}

function isResponse(source: unknown): source is Response {
  const { body, status, headers } = (source ?? {}) as Partial<Response>;
  return typeof status === "number" && typeof headers?.get === "function" && body !== undefined;
}

async function bodyOf(response: Response, core: Core): Promise<unknown> {
  const type = response.headers.get("content-type") ?? "";
  const isStream = response.ok && response.body !== null && !/json|html/i.test(type);
  if (isStream) {
    return response.body;
  }
  const answer = { status: response.status, headers: [...response.headers], body: (await response.text()).slice(0, 64 * 1024) };
  const host = URL.canParse(response.url) ? new URL(response.url).host : "The server";
  const { outcome } = core.decideWithoutStream({ host, attempt: 1, calledTool: false }, { answer });
  throw failed(outcome.error?.message ?? "The server gave no stream.", outcome, undefined);
}
