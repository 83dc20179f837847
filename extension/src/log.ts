// The output channel, and its latest lines for reports.
//
// Above the level trace, lines contain only our own words, ids of models, numbers and terms of the protocol. What a
// server said may quote what the user wrote, so it is logged at trace only and never remembered. Keys and the values of
// extra headers never appear at all.

import * as vscode from "vscode";

import type { Failure, Outcome } from "../../packages/loader/src/core.js";

/** The maximum number of lines in a report. */
const REMEMBERED = 200;
/** The maximum number of characters in a line. */
const MAX_LINE = 2_000;
/** Shorter secrets aren't hidden, because that would hide ordinary words. */
const SHORTEST_SECRET = 6;

type Level = "trace" | "debug" | "info" | "warn" | "error";

export interface LogLine {
  /** ISO 8601. */
  readonly at: string;
  readonly level: Level;
  readonly text: string;
}

/** Masks secrets in a text, however they are spelled, and anything that looks like one. */
export type Mask = (secrets: Iterable<string>, text: string) => string;

export class Log {
  readonly #channel: vscode.LogOutputChannel;
  readonly #recent: LogLine[] = [];
  readonly #secrets = new Set<string>();
  #mask: Mask | undefined;

  constructor(channel: vscode.LogOutputChannel) {
    this.#channel = channel;
  }

  get logLevel(): vscode.LogLevel {
    return this.#channel.logLevel;
  }

  /** The latest lines, oldest first, without those at trace. */
  get recent(): readonly LogLine[] {
    return this.#recent;
  }

  /** Masks this secret in every later line. */
  hide(secret: string): void {
    if (secret.length >= SHORTEST_SECRET) {
      this.#secrets.add(secret);
    }
  }

  /**
   * Applies the core's rule from now on. Before its module is loaded no server is asked, so none can quote anything.
   */
  maskWith(mask: Mask): void {
    this.#mask = mask;
  }

  /** Logs at the only level at which a server may be quoted. Costs almost nothing unless that level is on. */
  trace(message: string): void {
    if (this.#isShown("trace")) {
      this.#channel.trace(this.#line(message));
    }
  }

  debug(message: string): void {
    this.#write("debug", message);
  }

  info(message: string): void {
    this.#write("info", message);
  }

  warn(message: string): void {
    this.#write("warn", message);
  }

  error(message: string): void {
    this.#write("error", message);
  }

  /**
   * An error's message may quote anything, including a server or a prompt. Above trace, only its name and code are
   * logged.
   */
  failure(level: "debug" | "warn" | "error", what: string, error: unknown): void {
    this.#write(level, `${what}: ${errorName(error)}`);
    this.trace(`${what}: ${String(error)}`);
  }

  /** Logs how a request ended, with the message that the user gets if it failed. */
  outcome(model: string, outcome: Outcome, message?: string): void {
    this.#write(message === undefined ? "debug" : "error", `${modelName(model)}: ${facts(outcome)}`);
    this.#quote(model, outcome.error, message);
  }

  /** Logs that a request is sent again. */
  retry(model: string, error: Failure, delayMs: number): void {
    const outcome = { status: "failed", reason: null, error, empty: null, usage: null } as const;
    this.#write("warn", `${modelName(model)}: ${facts(outcome)}. Asking again in ${(delayMs / 1000).toFixed(1)} s.`);
    this.#quote(model, error, error.message);
  }

  /** Masks secrets, anything that looks like one, and the user's name in paths. */
  redact(text: string): string {
    let redacted = text;
    for (const secret of this.#secrets) {
      redacted = redacted.replaceAll(secret, HIDDEN);
    }
    try {
      redacted = this.#mask?.(this.#secrets, redacted) ?? redacted;
    } catch {
      // An unpaired surrogate isn't valid JSON for the core. The exact secrets are already masked, and the patterns
      // below remain.
    }
    return redact(redacted);
  }

  show(): void {
    this.#channel.show();
  }

  dispose(): void {
    this.#channel.dispose();
  }

  /** Logs what the server itself said about a request. */
  #quote(model: string, error: Failure | null, message: string | undefined): void {
    if (message !== undefined || error !== null) {
      const said = [message, error?.code, error?.requestId === null ? null : `request ${error?.requestId}`];
      this.trace(`${model}: ${said.filter((text) => text !== null && text !== undefined).join(", ")}`);
    }
  }

  #isShown(level: Level): boolean {
    const least = this.#channel.logLevel;
    return least !== vscode.LogLevel.Off && least <= RANKS[level];
  }

  #write(level: Exclude<Level, "trace">, message: string): void {
    const text = this.#line(message);
    this.#recent.push({ at: new Date().toISOString(), level, text });
    if (this.#recent.length > REMEMBERED) {
      this.#recent.shift();
    }
    if (this.#isShown(level)) {
      this.#channel[level](text);
    }
  }

  #line(message: string): string {
    return this.redact(this.#shortened(message));
  }

  /** Shortens a text between words and never inside a secret, because half a secret wouldn't be recognized. */
  #shortened(text: string): string {
    if (text.length <= MAX_LINE) {
      return text;
    }
    let end = MAX_LINE;
    for (const secret of this.#secrets) {
      const from = Math.max(0, MAX_LINE - secret.length);
      const at = text.slice(from, MAX_LINE + secret.length).indexOf(secret);
      end = at < 0 ? end : Math.min(end, from + at);
    }
    while (end > 0 && !/\s/.test(text[end - 1]!)) {
      end--;
    }
    return `${text.slice(0, end)}… (${text.length - end} more characters)`;
  }
}

const RANKS: { readonly [level in Level]: number } = {
  trace: vscode.LogLevel.Trace,
  debug: vscode.LogLevel.Debug,
  info: vscode.LogLevel.Info,
  warn: vscode.LogLevel.Warning,
  error: vscode.LogLevel.Error,
};

/** Terms that the protocol and the gateway define. Any other word in their place may be a quotation. */
const PROTOCOL_WORDS = new Set([
  // Why an answer is incomplete.
  ..."content_filter max_output_tokens max_tool_calls".split(" "),
  // Codes and types of errors.
  ..."api_error authentication_error bad_gateway bad_request billing_error context_length_exceeded customer_verification_required".split(
    " ",
  ),
  ..."forbidden gateway_timeout image_content_policy_violation insufficient_funds insufficient_quota internal_error".split(" "),
  ..."internal_server_error invalid_api_key invalid_image invalid_prompt invalid_request_error model_error model_not_found".split(" "),
  ..."not_found not_found_error overloaded_error permission_error quota_for_entity_exceeded rate_limit_error rate_limit_exceeded".split(
    " ",
  ),
  ..."request_too_large server_error service_unavailable timeout timeout_error too_many_requests".split(" "),
]);

/** Describes how a request ended, in words that no server chose. */
function facts({ status, reason, error, empty, usage }: Pick<Outcome, "status" | "reason" | "error" | "empty" | "usage">): string {
  const protocolWord = (word: string | null | undefined): string | null => (PROTOCOL_WORDS.has(word ?? "") ? word! : null);
  return [
    status,
    protocolWord(reason),
    empty === null ? null : `empty: ${empty}`,
    error?.kind,
    error?.status === null || error?.status === undefined ? null : `HTTP ${error.status}`,
    protocolWord(error?.code),
    usage === null ? null : `${usage.input_tokens ?? "?"} tokens in, ${usage.output_tokens ?? "?"} out`,
  ]
    .filter((fact) => fact !== null && fact !== undefined)
    .join(", ");
}

/** Returns a model's id for the log. A server chooses its ids and could write sentences in them. */
export function modelName(id: string): string {
  return id.length <= 100 && /^[\w.:@+~-]+(\/[\w.:@+~-]+)*$/.test(id) ? id : "a model";
}

function errorName(error: unknown): string {
  const { name, code } = (error ?? {}) as { name?: unknown; code?: unknown };
  const word = (value: unknown): string | undefined => (typeof value === "string" && /^\w{1,40}$/.test(value) ? value : undefined);
  return [word(name) ?? "error", word(code)].filter((text) => text !== undefined).join(" ");
}

const HIDDEN = "[hidden]";

/**
 * Masks what looks like a key, and the user's name in paths. The time is linear, because a server may have written the
 * text.
 */
export function redact(text: string): string {
  return (
    text
      .replace(/\b(bearer|basic)\s+[^\s"',;]+/gi, `$1 ${HIDDEN}`)
      .replace(/\beyJ[\w-]{8,}(\.[\w-]*){0,2}/g, HIDDEN)
      .replace(/\b(vck|vcp|vca|vercel|sk|pk|rk|gsk|hf|r8|xai|ghp|gho|ghs|ghu|github_pat|xox[a-z]|AIza|AKIA|ASIA)[_-]?[\w-]{12,}/g, HIDDEN)
      .replace(/(:\/\/)[^/\s@]+@/g, `$1${HIDDEN}@`)
      .replace(/([?&][\w-]+=)[^&\s#]+/g, (parameter, name: string) =>
        /key|token|secret|password|auth|signature/i.test(name) ? `${name}${HIDDEN}` : parameter,
      )
      // No word, id or address is this long without a separator and contains both digits and letters.
      .replace(/[\w+=-]{40,}/g, (word) => (/\d/.test(word) && /[A-Za-z]/.test(word) ? HIDDEN : word))
      .replace(/([A-Za-z]:)?([\\/])(Users|home)[\\/][^\\/\s"':;,)]+/g, "~")
      .replace(/(^|[\s"'(])\/root(?=[/\s"')]|$)/g, "$1~")
  );
}
