// The messages between the inspector's view and the extension.

import type { HistoryPeriod, HistoryRow, RecordsQuestion } from "../../packages/loader/src/boundary.js";

/**
 * What the view needs: answers of the core, the usage of a period, what to start with, whether a request was recorded, or
 * its recording as a document.
 */
export type Question =
  | RecordsQuestion
  | { readonly usage: HistoryPeriod }
  | { readonly start: null }
  | { readonly isRecorded: string }
  | { readonly export: string };

/** A question with a number that its answer has too. */
export interface FromView {
  readonly number: number;
  readonly question: Question;
}

/** The answer to a question, the news that there are other requests now, or a tab to show. */
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
  /** How much may be spent in the period, in US dollars. */
  readonly limit: number | null;
}
