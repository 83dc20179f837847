// The messages between the inspector's view and the extension.

import type { HistoryPeriod, HistoryRow, LimitState, Message, RecordsQuestion } from "../../packages/loader/src/boundary.js";

/**
 * What the view needs: answers of the core, the usage of a period, the credit that is left, what to start with, whether a
 * request was recorded, or its recording as a document.
 */
export type Question =
  | RecordsQuestion
  | { readonly usage: HistoryPeriod }
  | { readonly credits: null }
  | { readonly start: null }
  | { readonly isRecorded: string }
  | { readonly export: string };

/** A question with a number that its answer has too. */
export interface FromView {
  readonly number: number;
  readonly question: Question;
}

/** The answer to a question, a notice that the requests have changed, or a tab to show. */
export type ToView = { readonly number: number; readonly answer: unknown } | { readonly changed: true } | { readonly show: Tab };

export type Tab = "requests" | "usage";

export interface Start {
  readonly language: string;
  /** The texts in the user's language, by their English versions. */
  readonly texts: { readonly [english: string]: string };
  /** The tab to show, unless it is the one that was shown last. */
  readonly tab: Tab | null;
}

export interface Usage {
  readonly rows: readonly HistoryRow[];
  /** The limits for days and months, and how much of them is used. */
  readonly limits: readonly LimitState[];
}

/** What a server says about the credit of its account. */
export interface Credit {
  readonly server: string;
  readonly text: Message;
}
