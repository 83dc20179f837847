// The output channel, and a short memory of it for reports. A key gets into neither, at no level; above trace there is
// nothing private: our own words, ids of models, what became of a request.

import * as vscode from "vscode";

import type { Outcome } from "../../crates/sluice-wasm/js/src/core.js";

/** So many lines a report can tell. */
const REMEMBERED = 200;

export interface LogLine {
  /** ISO 8601. */
  readonly at: string;
  readonly level: "trace" | "debug" | "info" | "warn" | "error";
  readonly text: string;
}

export class Log {
  readonly #channel: vscode.LogOutputChannel;
  readonly #recent: LogLine[] = [];
  readonly #secrets = new Set<string>();

  constructor(channel: vscode.LogOutputChannel) {
    this.#channel = channel;
  }

  get logLevel(): vscode.LogLevel {
    return this.#channel.logLevel;
  }

  /** The latest lines, oldest first. */
  get recent(): readonly LogLine[] {
    return this.#recent;
  }

  /** Whatever comes later, this will not stand in it. */
  hide(secret: string): void {
    // A secret of a few letters would black out ordinary words.
    if (secret.length >= 6) {
      this.#secrets.add(secret);
    }
  }

  trace(message: string): void {
    this.#write("trace", message);
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

  /** What became of a request. What the server said about it may quote the prompt: that is for trace, and not remembered. */
  outcome(model: string, outcome: Outcome, message?: string): void {
    const { status, reason, error, empty, usage } = outcome;
    const facts = [
      status,
      reason,
      empty === null ? null : `empty: ${empty}`,
      error?.kind,
      error?.status === null || error?.status === undefined ? null : `HTTP ${error.status}`,
      error?.code,
      error?.requestId === null || error?.requestId === undefined ? null : `request ${error.requestId}`,
      usage === null ? null : `${usage.input_tokens ?? "?"} tokens in, ${usage.output_tokens ?? "?"} out`,
    ].filter((fact) => fact !== null && fact !== undefined);
    const level = message === undefined ? "debug" : "error";
    const summary = `${model}: ${facts.join(", ")}`;
    this.#write(level, summary);
    if (message !== undefined) {
      this.#channel.trace(this.redact(`${model}: ${message}`));
    }
  }

  redact(text: string): string {
    let redacted = text;
    for (const secret of this.#secrets) {
      redacted = redacted.replaceAll(secret, HIDDEN);
    }
    return redact(redacted);
  }

  show(): void {
    this.#channel.show();
  }

  dispose(): void {
    this.#channel.dispose();
  }

  #write(level: LogLine["level"], message: string): void {
    const text = this.redact(message);
    this.#remember(level, text);
    this.#channel[level](text);
  }

  #remember(level: LogLine["level"], text: string): void {
    this.#recent.push({ at: new Date().toISOString(), level, text });
    if (this.#recent.length > REMEMBERED) {
      // At trace one long answer would push out everything else.
      const leastWorth = this.#recent.findIndex((line) => line.level === "trace");
      this.#recent.splice(Math.max(leastWorth, 0), 1);
    }
  }
}

const HIDDEN = "[hidden]";

/** Takes out what looks like a key, and whose machine this is. */
export function redact(text: string): string {
  return (
    text
      .replace(/\b(bearer|basic)\s+[^\s"',;]+/gi, `$1 ${HIDDEN}`)
      .replace(/\beyJ[\w-]{8,}(\.[\w-]*){0,2}/g, HIDDEN)
      .replace(/\b(vck|vcp|vca|vercel|sk|pk|rk|gsk|hf|r8|xai|ghp|gho|ghs|ghu|github_pat|xox[a-z]|AIza|AKIA|ASIA)[_-]?[\w-]{12,}/g, HIDDEN)
      .replace(/(:\/\/)[^/\s@]+@/g, `$1${HIDDEN}@`)
      .replace(/([?&][\w-]*(?:key|token|secret|password|auth|signature)[\w-]*=)[^&\s#]+/gi, `$1${HIDDEN}`)
      // No word, id or address is this long without a break and has digits in it.
      .replace(/(?=[\w+/=-]*\d)(?=[\w+/=-]*[A-Za-z])[\w+=-]{40,}/g, HIDDEN)
      .replace(/([A-Za-z]:)?([\\/])(Users|home)[\\/][^\\/\s"':;,)]+/g, "~")
      .replace(/(^|[\s"'(])\/root(?=[/\s"')]|$)/g, "$1~")
  );
}
