// The core's sentences in the user's language. The core sends codes with arguments; the bundles in `l10n/` are keyed by the
// English sentence of each code.

import * as vscode from "vscode";

import type { Message, Note } from "../../packages/loader/src/boundary.js";
import { MESSAGES } from "../../packages/loader/src/messages.js";

/** Joins messages in the user's language: sentences with a space, the details of a line with a comma. */
export function localized(messages: readonly Message[], separator = " "): string {
  return messages.map(({ code, args }) => vscode.l10n.t(MESSAGES[code], ...args)).join(separator);
}

/** What a note says to the user. Notes without sentences are for logs. */
export function noteText({ detail, text }: Note): string {
  return text === undefined ? detail : localized(text);
}
