// The view's texts and the core's sentences in the user's language.

import type { Message } from "../../packages/loader/src/boundary.js";
import { MESSAGES } from "../../packages/loader/src/messages.js";
import type { Start } from "./protocol.js";

let known: Pick<Start, "language" | "texts"> = { language: "en", texts: {} };

export const l10n = {
  use(texts: Start): void {
    known = texts;
  },

  /** Returns a text with its placeholders filled in. */
  t(english: string, ...args: readonly (string | number)[]): string {
    return (known.texts[english] ?? english).replace(/\{(\d+)\}/g, (_, index: string) => String(args[Number(index)] ?? ""));
  },
};

/** Joins messages of the core. */
export function said(messages: readonly Message[], separator = " "): string {
  return messages.map(({ code, args }) => l10n.t(MESSAGES[code], ...args)).join(separator);
}

/** Returns a time of today, or the day and the time. */
export function shownTime(ms: number): string {
  const date = new Date(ms);
  const isToday = date.toDateString() === new Date().toDateString();
  return date.toLocaleString(known.language, isToday ? { timeStyle: "medium" } : { dateStyle: "short", timeStyle: "short" });
}

export function dollars(amount: number): string {
  const isSmall = amount > 0 && amount < 0.995;
  const digits = isSmall ? { minimumSignificantDigits: 2, maximumSignificantDigits: 2 } : { maximumFractionDigits: 2 };
  return amount.toLocaleString(known.language, { style: "currency", currency: "USD", ...digits });
}
