// The core's sentences in the user's language. The core sends codes with arguments; the bundles in `l10n/` are keyed by the
// English sentence of each code.

import * as vscode from "vscode";

import type { Endpoint, Message, Note } from "../../packages/loader/src/boundary.js";
import { MESSAGES } from "../../packages/loader/src/messages.js";
import type { Requests } from "../../packages/loader/src/requests.js";

/** Joins messages in the user's language: sentences with a space, the details of a line with a comma. */
export function localized(messages: readonly Message[], separator = " "): string {
  return messages.map(({ code, args }) => vscode.l10n.t(MESSAGES[code], ...args)).join(separator);
}

/** Checks a base URL. Throws an error that says what is wrong with it. Before anything is sent there, `Connections.agree` asks the user if necessary. */
export function parseEndpoint(requests: Requests, address: string): Endpoint {
  const parsed = requests.parseEndpoint(address);
  if ("code" in parsed) {
    throw new Error(localized([parsed]));
  }
  return parsed;
}

/** What a note says to the user. Notes without sentences are for logs. */
export function noteText({ detail, text }: Note): string {
  return text === undefined ? detail : localized(text);
}
