// What a stream is opened with and what it gives, beside the generated types of the boundary. Types only: core.ts imports nothing
// at run time.

import type { NextStep, Note, Outcome, Part, VsCodeUsage } from "./boundary.js";

/** What a push gives: parts to show, notes to log. */
export type Output = Part | ({ type: "note" } & Note);

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
