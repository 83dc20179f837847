// One stream from its first item to its outcome: items go to the core, outputs come back, the end resolves or rejects.

import { bytesOf, chunkToJson } from "../../loader/src/chunks.js";
import type { ChunkStream, Core, Note, Outcome, Output, ResponseStream } from "../../loader/src/core.js";
import { lookUpVSCode, PartMaker, type VSCodeClasses } from "./parts.js";
import { type Cancellation, type Item, type Items, isCancelled, itemsOf, onCancel, quietly, unlessCancelled } from "./source.js";
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

const NOTHING: unknown[] = [];

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
  #notes = 0;
  /** When this turn of the event loop began, or the first one. */
  #turnBegan = Date.now();
  #taken = 0;
  /** The first half of a character that a text was cut in. */
  #half = "";

  private constructor(core: Core, vscode: VSCodeClasses, settings: Settings, items: Items, cancellation?: Cancellation) {
    const options = { plainCallIds: !settings.prefixCallIds };
    this.#stream = settings.dialect === "aiSdk" ? core.openChunkStream(options) : core.openStream(options);
    this.#parts = new PartMaker(vscode, settings.enableReasoning, (message) => this.#log("warn", message));
    this.#settings = settings;
    this.#items = items;
    this.#cancellation = cancellation;
    this.#stopListening = onCancel(cancellation, () => {
      this.#items.stop();
      this.#wake?.();
    });
  }

  static async open(source: unknown, settings: Settings, cancellation?: Cancellation): Promise<Session> {
    const given = unlessCancelled(source, cancellation, NOTHING);
    const [core, vscode, stream] = await Promise.all([theCore(), settings.vscode ?? lookUpVSCode(), given]);
    if (stream === NOTHING) {
      // Whatever comes of it later, nobody reads it.
      quietly(async () => {
        const late = await source;
        itemsOf(isResponse(late) ? late.body : late).stop();
      });
    }
    const items = itemsOf(isResponse(stream) ? await bodyOf(stream, core, cancellation) : stream);
    return new Session(core, vscode, settings, items, cancellation);
  }

  /** Reads all there is. Throws if the end is not how an answer should end. */
  async run(report: (part: object) => void): Promise<void> {
    // Not by `step`, which would cost every item another promise.
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

  /** Reads the next item only, and says whether there may be more. */
  async step(report: (part: object) => void): Promise<boolean> {
    let done: boolean | undefined;
    let value: unknown;
    try {
      ({ done, value } = await this.#next());
    } catch (error) {
      this.#broken(error, report);
      return false;
    }
    return this.#take(done, value, report);
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
   * A source that has everything at hand never lets the event loop turn: nobody could cancel it, and nothing else in this process
   * would go on.
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
      this.#finish("cancelled", report);
      return false;
    }
    if (done) {
      this.#finish("eof", report);
      return false;
    }
    for (const output of this.#push(value)) {
      this.#give(output, report, value);
    }
    if (this.#stream.isTerminal) {
      this.#finish("eof", report);
    }
    return !this.#stream.isTerminal;
  }

  /** Nobody reads any more. */
  close(): void {
    quietly(this.#stopListening);
    this.#items.stop();
    // Left in the middle: by the caller, or because a part could not be reported.
    if (this.outcome === undefined && !this.#isFinished) {
      this.outcome = this.#stream.finish("cancelled").outcome;
    }
  }

  #push(item: unknown): Output[] {
    const bytes = typeof item === "string" ? this.#encode(item) : bytesOf(item);
    if (bytes !== undefined) {
      return this.#stream.push(bytes);
    }
    const isAiSdk = this.#settings.dialect === "aiSdk";
    const { json, problem } = chunkToJson(item);
    if (problem !== undefined) {
      this.#log("warn", `a chunk cannot be read: ${problem}`);
    }
    // It may have been a call, or an error: an answer without it must not pass for complete. The parsed events of Open Responses
    // come from JSON, so that nothing in them is unreadable by accident.
    const text = json === undefined || (problem !== undefined && !isAiSdk) ? UNREADABLE : json;
    if (isAiSdk) {
      return (this.#stream as ChunkStream).pushChunk(text);
    }
    return this.#stream.push(this.#encoder.encode(`data: ${text}\n\n`));
  }

  /** A logger that throws is not the answer's problem. */
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

  #give(output: Output, report: (part: object) => void, item?: unknown): void {
    if (output.type === "note") {
      this.#note(output, item);
    } else {
      this.#parts.make(output, report);
    }
  }

  #note(note: Note, item: unknown): void {
    this.#notes++;
    if (this.#notes <= MAX_NOTES) {
      this.#log(LOUD.has(note.kind) ? "warn" : "debug", `${EXPLAINED[note.kind] ?? note.kind}: ${note.detail}`);
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
    for (const name of this.#parts.missing) {
      this.#log("debug", `this VS Code has no ${name}: parts that need it were left out`);
    }
    switch (outcome.status) {
      case "completed":
        break;
      case "incomplete":
        this.#log("warn", `the answer is incomplete: ${word(outcome.reason) ?? "no reason given"}`);
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
    if (isCancelled(this.#cancellation) || field(error, "name") === "AbortError") {
      this.#isFinished = true;
      this.outcome = this.#stream.finish("cancelled").outcome;
      return;
    }
    this.#log("error", `the stream broke: ${identified(error)}`);
    try {
      this.#finish("broken", report, error);
    } catch (failure) {
      const message = typeof error === "string" ? error : field(error, "message");
      const words = typeof message === "string" ? message.slice(0, 1000).split("\n", 1)[0]!.trim().slice(0, 300) : "";
      if (this.outcome?.status === "truncated" && words !== "") {
        throw failed(`The answer broke off: ${words}`, this.outcome, error);
      }
      throw failure;
    }
  }
}

/** Stands in for a chunk that cannot be read, in both dialects. */
const UNREADABLE = JSON.stringify({ type: "error", error: { message: "A part of the answer cannot be read. Ask again." } });
const MAX_NOTES = 200;
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

/** What may be logged of an error: which one it is. Its message, and more so its other fields, may say what the user said. */
function identified(error: unknown): string {
  const cause = field(error, "cause");
  const words = [error, cause].flatMap((each) => [field(each, "name"), field(each, "code"), field(each, "statusCode")]);
  return [...new Set(words.map(word).filter((each) => each !== undefined))].join(", ") || "an error without a name";
}

/** A field of anything, however hard it resists. */
function field(value: unknown, name: string): unknown {
  try {
    return (value as Record<string, unknown> | null | undefined)?.[name];
  } catch {
    return undefined;
  }
}

/** A name or a number, but no prose. */
function word(value: unknown): string | undefined {
  return (typeof value === "string" || typeof value === "number") && /^[\w.-]{1,60}$/.test(`${value}`) ? `${value}` : undefined;
}

function isResponse(source: unknown): source is Response {
  const headers = field(source, "headers");
  return typeof field(source, "status") === "number" && typeof field(headers, "get") === "function" && field(source, "body") !== undefined;
}

/** The body, if it is a stream. Otherwise throws what the server said instead. */
async function bodyOf(response: Response, core: Core, cancellation: Cancellation | undefined): Promise<unknown> {
  const type = response.headers.get("content-type") ?? "";
  const isStream = response.ok && response.body !== null && !/json|html/i.test(type);
  if (isStream) {
    return response.body;
  }
  const body = await beginningOf(response.body, cancellation);
  if (isCancelled(cancellation)) {
    return [];
  }
  const answer = { status: response.status, headers: [...response.headers], body };
  const host = URL.canParse(response.url) ? new URL(response.url).host : "The server";
  const { outcome } = core.decideWithoutStream({ host, attempt: 1, calledTool: false }, { answer });
  throw failed(outcome.error?.message ?? "The server gave no stream.", outcome, undefined);
}

/** The first 64 KiB of a body, or as much as came before it broke off. The rest is not read. */
async function beginningOf(body: ReadableStream<Uint8Array> | null, cancellation: Cancellation | undefined): Promise<string> {
  let text = "";
  if (body === null) {
    return text;
  }
  const items = itemsOf(body);
  const decoder = new TextDecoder();
  try {
    while (text.length < MAX_ERROR_BODY) {
      const { done, value } = await unlessCancelled(items.next(), cancellation, { done: true });
      if (done) {
        break;
      }
      text += decoder.decode((value as Uint8Array).subarray(0, MAX_ERROR_BODY), { stream: true });
    }
  } catch {
    // What came is still worth telling.
  }
  items.stop();
  return text.slice(0, MAX_ERROR_BODY);
}

const MAX_ERROR_BODY = 64 << 10;
