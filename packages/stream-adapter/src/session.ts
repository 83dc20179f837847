// One stream from its first item to its outcome: items are passed to the core, outputs are reported, and the end
// resolves or rejects.

import { bytesOf, chunkToJson } from "../../loader/src/chunks.js";
import type { Core, Exchange, ExchangeOptions, Note, Outcome, Output, Pace } from "../../loader/src/core.js";
import { SluiceStreamError } from "./error.js";
import { lookUpVSCode, PartMaker, type VSCodeClasses } from "./parts.js";
import { type Cancellation, type Item, type Items, isCancelled, itemsOf, onCancel, quietly, unlessCancelled } from "./source.js";

export interface AdapterLogger {
  debug(message: string, ...args: unknown[]): void;
  warn(message: string, ...args: unknown[]): void;
  error(message: string, ...args: unknown[]): void;
}

export interface StreamAdapterOptions {
  /** The `vscode` module, or the parts of it that are used. It is looked up if not given. */
  vscode?: VSCodeClasses;
  /** Reports the model's thinking, if this VS Code can show it. Default: true. */
  enableReasoning?: boolean;
  /** Gets every chunk of an unknown type. Such chunks never become output. */
  onUnknownChunk?: (chunk: unknown) => void;
  /** It never gets what the model or the user said. Default: `console`. */
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
  /**
   * When text is reported: `immediate`, as it arrives; `steady`, joined every 40 ms, because VS Code holds back parts that follow
   * closely on each other; `chatView`, as VS Code's Chat view shows it soonest; `atEnd`, everything at the end, for VS
   * Code's agent host. Default: `immediate`.
   */
  pace?: Pace;
}

/** The server's counts; `null` if it didn't report them. */
export interface StreamUsage {
  inputTokens: number | null;
  outputTokens: number | null;
}

export interface Settings extends Required<Omit<StreamAdapterOptions, "vscode">> {
  vscode: VSCodeClasses | undefined;
  dialect: "openResponses" | "aiSdk";
  /** Loads the module for the dialect. */
  core: () => Promise<Core>;
}

export const NO_USAGE: StreamUsage = { inputTokens: null, outputTokens: null };

const NOTHING: unknown[] = [];
/** The core's pauses are shorter, and its other time limits, which are up to the caller here, are longer. */
const LONGEST_PAUSE_MS = 1_000;

/** A stream that is being read. Call `step` until it returns that there is no more, and `close` in any case. */
export class Session {
  outcome: Outcome | undefined;
  readonly #settings: Settings;
  readonly #parts: PartMaker;
  readonly #exchange: Exchange;
  readonly #items: Items;
  /** Whether the stream is the body of a response, so that an error only means that the connection broke. */
  readonly #isResponse: boolean;
  readonly #cancellation: Cancellation | undefined;
  readonly #encoder = new TextEncoder();
  /** Why there is no stream. */
  readonly #cause: unknown;
  /** Ends the wait for an item. */
  #wake: (() => void) | undefined;
  /** The next item, while text is reported that has waited for its time. */
  #waiting: Promise<Item> | undefined;
  #stopListening: () => void = () => {};
  #notes = 0;
  /** When this turn of the event loop began. */
  #turnBegan = Date.now();
  #taken = 0;
  /** The first half of a character that was split between two texts. */
  #half = "";

  private constructor(core: Core, vscode: VSCodeClasses, settings: Settings, source: unknown, cancellation?: Cancellation) {
    const options: ExchangeOptions = { pace: settings.pace, stream: { plainCallIds: !settings.prefixCallIds } };
    this.#isResponse = isResponse(source);
    if (source instanceof Unreachable) {
      this.#exchange = core.openExchange({ ...options, origin: "the server", maxAttempts: 1 });
      this.#exchange.handleConnectionError("connect", source.code);
      this.#cause = source.error;
    } else if (isResponse(source)) {
      // The caller made the request, so it isn't sent again.
      const origin = URL.canParse(source.url) ? new URL(source.url).origin : "";
      this.#exchange = core.openExchange({ ...options, origin, maxAttempts: 1 });
      this.#exchange.handleHead(source.status, source.headers);
    } else {
      this.#exchange = core.openStream(options);
    }
    this.#parts = new PartMaker(vscode, settings.enableReasoning, (message) => this.#log("warn", message));
    this.#settings = settings;
    this.#items = itemsOf(isResponse(source) ? (source.body ?? NOTHING) : source instanceof Unreachable ? NOTHING : source);
    this.#cancellation = cancellation;
    this.#stopListening = onCancel(cancellation, () => {
      this.#items.stop();
      this.#wake?.();
    });
  }

  static async open(source: unknown, settings: Settings, cancellation?: Cancellation): Promise<Session> {
    const started = start(source, cancellation);
    const given = unlessCancelled(started, cancellation, NOTHING).catch((error: unknown) => {
      // A request that was aborted together with the answer hasn't failed.
      return isCancelled(cancellation) ? NOTHING : new Unreachable(error);
    });
    const [core, vscode, stream] = await Promise.all([settings.core(), settings.vscode ?? lookUpVSCode(), given]);
    if (stream === NOTHING) {
      // Nothing reads it later.
      quietly(async () => {
        const late = await started;
        itemsOf(isResponse(late) ? late.body : late).stop();
      });
    }
    const isWhole = settings.dialect === "openResponses" && isWholeResponse(stream);
    return new Session(core, vscode, settings, isWhole ? jsonResponse(stream) : stream, cancellation);
  }

  /** Reads the whole stream. Throws if the answer doesn't end properly. */
  async run(report: (part: object) => void): Promise<void> {
    if (this.#settings.pace !== "immediate") {
      while (await this.step(report)) {}
      return;
    }
    // This doesn't use `step`, which would create another promise for every item.
    for (;;) {
      let done: boolean | undefined;
      let value: unknown;
      try {
        ({ done, value } = await this.#next());
      } catch (error) {
        return this.#broken(error, report);
      }
      if (!this.#take(done, value, report)) {
        return;
      }
    }
  }

  /** Reads the next item, or reports text whose time has come. Returns whether there may be more. */
  async step(report: (part: object) => void): Promise<boolean> {
    let item: Item | undefined;
    try {
      item = await this.#nextOrPause();
    } catch (error) {
      this.#broken(error, report);
      return false;
    }
    if (item === undefined) {
      this.#give(this.#exchange.handleTimeout(), report);
      return true;
    }
    return this.#take(item.done, item.value, report);
  }

  /** Returns the next item, or undefined if text has to be reported before it. */
  async #nextOrPause(): Promise<Item | undefined> {
    const next = (this.#waiting ??= this.#next());
    const { action } = this.#exchange;
    const pauses = action.type === "read" && action.timeoutMs <= LONGEST_PAUSE_MS;
    const item = pauses ? await within(next, action.timeoutMs) : await next;
    if (item !== undefined) {
      this.#waiting = undefined;
    }
    return item;
  }

  #next(): Promise<Item> {
    const next = this.#isTimeToPause() ? this.#pause().then(() => this.#items.next()) : this.#items.next();
    if (this.#cancellation === undefined || this.#items.stopsWaiting) {
      return next;
    }
    return new Promise((resolve, reject) => {
      this.#wake = () => resolve({ done: true });
      next.then(resolve, reject);
    });
  }

  /**
   * A source that already has everything would block the event loop: it couldn't be cancelled, and nothing else in this
   * process could run.
   */
  #isTimeToPause(): boolean {
    this.#taken++;
    return this.#taken % 64 === 0 && Date.now() - this.#turnBegan > 50;
  }

  async #pause(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 0));
    this.#turnBegan = Date.now();
  }

  #take(done: boolean | undefined, value: unknown, report: (part: object) => void): boolean {
    if (isCancelled(this.#cancellation)) {
      this.#cancel(report);
    } else {
      this.#give(done ? this.#exchange.handleEnd() : this.#push(value), report, value);
    }
    if (this.#exchange.action.type === "read") {
      return true;
    }
    this.#finish(report, this.#cause);
    return false;
  }

  /** Reading has ended. */
  close(): void {
    quietly(this.#stopListening);
    this.#items.stop();
    if (this.outcome === undefined) {
      // The stream was abandoned, by the caller or because a part couldn't be reported.
      this.#exchange.cancel({ unseenOutputs: true });
      this.outcome = this.#exchange.report?.outcome;
    }
    this.#exchange.close();
  }

  #push(item: unknown): Output[] {
    const bytes = typeof item === "string" ? this.#encode(item) : bytesOf(item);
    if (bytes !== undefined) {
      return this.#exchange.handleBytes(bytes);
    }
    const isAiSdk = this.#settings.dialect === "aiSdk";
    const { json, problem } = chunkToJson(item);
    if (problem !== undefined) {
      this.#log("warn", `a chunk cannot be read: ${problem}`);
    }
    // It may have been a call or an error, so an answer without it must not count as complete. The parsed events of
    // Open Responses come from JSON, so unreadable values in them aren't accidental.
    const text = json === undefined || (problem !== undefined && !isAiSdk) ? UNREADABLE : json;
    if (isAiSdk) {
      return this.#exchange.handleChunk(text);
    }
    return this.#exchange.handleBytes(this.#encoder.encode(`data: ${text}\n\n`));
  }

  /** A logger that throws must not affect the answer. */
  #log(level: keyof AdapterLogger, message: string): void {
    const { logger } = this.#settings;
    quietly(() => logger[level](message));
  }

  #encode(text: string): Uint8Array {
    const whole = this.#half + text;
    const last = whole.charCodeAt(whole.length - 1);
    const isHalf = last >= 0xd800 && last <= 0xdbff;
    this.#half = isHalf ? whole.slice(-1) : "";
    return this.#encoder.encode(isHalf ? whole.slice(0, -1) : whole);
  }

  #give(outputs: Output[], report: (part: object) => void, item?: unknown): void {
    for (const output of outputs) {
      // The caller may cancel while there are more outputs from the same bytes.
      if (isCancelled(this.#cancellation)) {
        this.#exchange.cancel({ unseenOutputs: true });
        return;
      }
      if (output.type === "note") {
        this.#note(output, item);
      } else {
        this.#parts.make(output, report);
      }
    }
  }

  /** Ends the exchange. Text that has arrived, and that the pace has held back, is still reported. */
  #cancel(report: (part: object) => void): void {
    for (const output of this.#exchange.cancel()) {
      if (output.type !== "note") {
        this.#parts.make(output, report);
      }
    }
  }

  #note(note: Note, item: unknown): void {
    this.#notes++;
    if (this.#notes <= MAX_NOTES) {
      const detail = note.detail === "" ? "" : `: ${note.detail}`;
      this.#log(LOUD.has(note.kind) ? "warn" : "debug", `${EXPLAINED[note.kind] ?? note.kind}${detail}`);
    } else if (this.#notes === MAX_NOTES + 1) {
      this.#log("warn", "more notes about this answer are not logged");
    }
    if (note.kind === "unknownEvent" || note.kind === "malformed") {
      const isBytes = typeof item === "string" || bytesOf(item) !== undefined;
      const { onUnknownChunk } = this.#settings;
      quietly(
        () => onUnknownChunk(isBytes ? { type: note.detail } : item),
        (error) => this.#log("error", `onUnknownChunk threw: ${identified(error)}`),
      );
    }
  }

  /** The exchange is over. Throws if the answer failed, and logs the rest. */
  #finish(report: (part: object) => void, cause?: unknown): void {
    const { outcome, ending, usage } = this.#exchange.report!;
    this.outcome = outcome;
    if (usage !== null && ending.type !== "cancelled" && this.#settings.reportUsage) {
      this.#parts.makeUsage(usage, report);
    }
    for (const name of this.#parts.missing) {
      this.#log("debug", `this VS Code has no ${name}: parts that need it were left out`);
    }
    if (ending.type === "cancelled" && this.#cancellation !== undefined && !isCancelled(this.#cancellation)) {
      // The SDK was aborted, and not by the caller of this stream.
      throw new SluiceStreamError("The answer was aborted.", outcome, cause);
    }
    if (ending.type === "rejected" && ending.kind === null) {
      // The server completed the answer. Whether an unusual one is acceptable is up to the caller.
      this.#log("warn", ending.message);
    } else if (ending.type === "rejected") {
      const words = cause === undefined || this.#isResponse || outcome.status !== "truncated" ? "" : firstLine(cause);
      // The provider's author decides what to advise; `failure` has what we would.
      throw new SluiceStreamError(
        words === "" ? (outcome.error?.message ?? ending.message) : `The answer broke off: ${words}`,
        outcome,
        cause,
      );
    }
  }

  /** The source threw. */
  #broken(error: unknown, report: (part: object) => void): void {
    if (isCancelled(this.#cancellation) || field(error, "name") === "AbortError") {
      this.#cancel(report);
      this.outcome = this.#exchange.report?.outcome;
      return;
    }
    this.#log("error", `the stream broke: ${identified(error)}`);
    this.#give(this.#exchange.handleConnectionError("broken"), report);
    this.#finish(report, error);
  }
}

/** Returns the result of a promise, or undefined if it takes longer. */
function within<T>(promise: Promise<T>, timeoutMs: number): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(undefined), timeoutMs);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Replaces a chunk that can't be read, in both dialects. */
const UNREADABLE = JSON.stringify({ type: "error", error: { message: "A part of the answer cannot be read" } });
const MAX_NOTES = 200;
/** Notes that a developer should always see. */
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

/** A source that never became a stream, such as a request without a connection. */
class Unreachable {
  readonly code: string | undefined;

  constructor(readonly error: unknown) {
    const code = field(field(error, "cause"), "code") ?? field(error, "code");
    this.code = typeof code === "string" ? code : undefined;
  }
}

/** Calls a source that is a function with a signal that the caller's cancellation aborts. */
function start(source: unknown, cancellation: Cancellation | undefined): unknown {
  if (typeof source !== "function") {
    return source;
  }
  const controller = new AbortController();
  onCancel(cancellation, () => controller.abort());
  return (async () => (source as (signal: AbortSignal) => unknown)(controller.signal))();
}

/** Returns whether this is a whole Open Responses response, as an object or as JSON. */
function isWholeResponse(source: unknown): boolean {
  if (typeof source === "string") {
    return source.trimStart().startsWith("{");
  }
  return field(source, "object") === "response" && Array.isArray(field(source, "output"));
}

function jsonResponse(source: unknown): Response {
  const body = typeof source === "string" ? source : JSON.stringify(source);
  return new Response(body, { headers: { "content-type": "application/json" } });
}

/** Returns the first line of an error's message, shortened if necessary. */
function firstLine(error: unknown): string {
  const message = typeof error === "string" ? error : field(error, "message");
  return typeof message === "string" ? message.slice(0, 1000).split("\n", 1)[0]!.trim().slice(0, 300) : "";
}

/**
 * Returns what may be logged of an error: its name and code. Its message and its other fields may repeat what the user
 * said.
 */
function identified(error: unknown): string {
  const cause = field(error, "cause");
  const words = [error, cause].flatMap((each) => [field(each, "name"), field(each, "code"), field(each, "statusCode")]);
  return [...new Set(words.map(word).filter((each) => each !== undefined))].join(", ") || "an error without a name";
}

/** Returns a field of any value, even if reading it throws. */
function field(value: unknown, name: string): unknown {
  try {
    return (value as Record<string, unknown> | null | undefined)?.[name];
  } catch {
    return undefined;
  }
}

/** Returns a name or a number, but no prose. */
function word(value: unknown): string | undefined {
  return (typeof value === "string" || typeof value === "number") && /^[\w.-]{1,60}$/.test(`${value}`) ? `${value}` : undefined;
}

function isResponse(source: unknown): source is Response {
  const headers = field(source, "headers");
  return typeof field(source, "status") === "number" && typeof field(headers, "get") === "function" && field(source, "body") !== undefined;
}
