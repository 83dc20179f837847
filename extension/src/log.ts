// The output channel, and its latest lines for reports.
//
// Above the level trace, lines contain only our own words, ids of models, numbers and terms of the protocol. What a
// server said may quote what the user wrote, so it is logged at trace only and never remembered. Keys and the values of
// extra headers never appear at all.

import * as vscode from "vscode";

import type { LoggedOutcome, LogLevel } from "../../packages/loader/src/core.js";
import type { Requests } from "../../packages/loader/src/requests.js";

/** The maximum number of lines in a report. */
const REMEMBERED = 200;

export class Log {
  /** The latest lines with their times and levels, oldest first, without those at trace. */
  readonly recent: string[] = [];
  readonly #secrets = new Set<string>();
  #core: Requests | undefined;

  constructor(private readonly channel: vscode.LogOutputChannel) {}

  get isTracing(): boolean {
    return this.channel.logLevel === vscode.LogLevel.Trace;
  }

  get secrets(): ReadonlySet<string> {
    return this.#secrets;
  }

  /** Masks this secret in every later line, unless the core says that it is an ordinary word. */
  hide(secret: string): void {
    this.#secrets.add(secret);
  }

  /**
   * Lets the core decide what a line may contain from now on. Before its module is loaded no server is asked, so none can
   * quote anything.
   */
  useCore(core: Requests): void {
    this.#core = core;
  }

  readonly debug = (message: string): void => this.#write("debug", message);
  readonly info = (message: string): void => this.#write("info", message);
  readonly warn = (message: string): void => this.#write("warn", message);
  readonly error = (message: string): void => this.#write("error", message);

  /** Logs at the only level at which a server may be quoted. Costs almost nothing unless that level is on. */
  trace(message: string): void {
    if (this.isTracing) {
      this.channel.trace(this.redact(message));
    }
  }

  /**
   * An error's message may quote anything, including a server or a prompt. Above trace, only its name and code are
   * logged.
   */
  failure(level: "debug" | "warn" | "error", what: string, error: unknown): void {
    this.#write(level, `${what}: ${errorName(error)}`);
    this.trace(`${what}: ${String(error)}`);
  }

  /** Logs how a request ended. If it failed, the user sees `message`. If it is sent again, that happens after `retryMs`. */
  outcome(model: string, outcome: LoggedOutcome, message?: string, retryMs?: number): void {
    const more = { ...(message !== undefined && { message }), ...(retryMs !== undefined && { retryMs }) };
    const [level, line, quote] = this.#core?.logOutcome({ model, outcome, ...more }) ?? ["error", outcome.status, null];
    this.#write(level, line);
    if (quote !== null) {
      this.trace(quote);
    }
  }

  /** Returns a model's id for the log. A server chooses its ids and could write sentences in them. */
  modelName(id: string): string {
    return this.#core?.loggedModel(id) ?? "a model";
  }

  /** Masks secrets, anything that looks like one, and the user's name in paths, and shortens a very long line. */
  redact(text: string): string {
    try {
      return this.#core?.redact(this.#secrets, text) ?? (this.#secrets.size === 0 ? text : HIDDEN);
    } catch {
      // Nothing is known about this text, so none of it is shown.
      return HIDDEN;
    }
  }

  dispose(): void {
    this.channel.dispose();
  }

  #write(level: LogLevel, message: string): void {
    const text = this.redact(message);
    this.recent.push(`${new Date().toISOString()} ${level} ${text}`);
    if (this.recent.length > REMEMBERED) {
      this.recent.shift();
    }
    this.channel[level](text);
  }
}

/** Returns the name and the code of an error, because its message may quote anything. */
export function errorName(error: unknown): string {
  const { name, code } = (error ?? {}) as { name?: unknown; code?: unknown };
  const word = (value: unknown): string | undefined => (typeof value === "string" && /^\w{1,40}$/.test(value) ? value : undefined);
  return [word(name) ?? "error", word(code)].filter((text) => text !== undefined).join(" ");
}

const HIDDEN = "[hidden]";
