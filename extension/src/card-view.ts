// What a connection test found out, as a page without scripts, links or anything that is loaded, and as plain text.

import * as vscode from "vscode";

import type { Card, CheckResult } from "../../packages/loader/src/core.js";
import { localized } from "./messages.js";

const MARKS: { readonly [result in CheckResult]: string } = { works: "✓", absent: "–", failed: "✗", unknown: "?" };

const STYLE = `
  body { max-width: 60em; margin: 2em auto; padding: 0 2em; line-height: 1.5; }
  h1 { font-size: 1.6em; font-weight: 400; margin-bottom: 0; }
  h2 { font-size: 1.2em; font-weight: 600; margin-top: 2em; }
  .where { color: var(--vscode-descriptionForeground); margin-top: 0.2em; }
  .verdict { border: 0 solid; border-left-width: 4px; border-color: var(--vscode-testing-iconPassed); padding: 0.5em 1em; background: var(--vscode-textBlockQuote-background); }
  .verdict.failed { border-color: var(--vscode-testing-iconFailed); }
  table { border-collapse: collapse; width: 100%; }
  td, th { text-align: left; vertical-align: top; padding: 0.3em 0.8em 0.3em 0; font-weight: 400; }
  tr + tr > * { border: 0 solid; border-top-width: 1px; border-color: var(--vscode-widget-border, var(--vscode-editorWidget-border)); }
  td:first-child { width: 1.5em; text-align: center; font-weight: 700; }
  th { white-space: nowrap; font-weight: 600; }
  .works { color: var(--vscode-testing-iconPassed); }
  .absent { color: var(--vscode-descriptionForeground); }
  .failed { color: var(--vscode-testing-iconFailed); }
  .unknown { color: var(--vscode-descriptionForeground); }
  .cost { color: var(--vscode-descriptionForeground); margin-top: 2em; }
`;

/** Returns text in which nothing is markup. */
function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** What a result is called. The marks alone would tell nothing to a screen reader. */
const NAMES: { readonly [result in CheckResult]: () => string } = {
  works: () => vscode.l10n.t("Works"),
  absent: () => vscode.l10n.t("The server does not do this"),
  failed: () => vscode.l10n.t("Failed"),
  unknown: () => vscode.l10n.t("Unknown"),
};

/** Returns whether something doesn't work. */
export function isBad({ checks }: Card): boolean {
  return checks.some(({ result }) => result === "failed");
}

/** Returns one sentence about the whole card. */
export function verdict(label: string, { checks }: Card): string {
  const failed = checks.find(({ result }) => result === "failed");
  return failed === undefined
    ? vscode.l10n.t('The connection "{0}" works.', label)
    : `${localized([failed.label])}: ${localized(failed.detail)}`;
}

/** Returns a page for a webview. `redact` is applied to everything that a server may have written. */
export function cardPage(label: string, card: Card, redact: (text: string) => string): string {
  const text = (shown: string): string => escaped(redact(shown));
  const nonce = crypto.randomUUID();
  const rows = card.checks.map(({ label: name, result, detail }) => {
    const meaning = escaped(NAMES[result]());
    // The cell stays a cell: with a role of its own, it would no longer be a part of the table.
    const mark = `<td class="${result}"><span role="img" aria-label="${meaning}" title="${meaning}">${MARKS[result]}</span></td>`;
    return `<tr>${mark}<th scope="row">${text(localized([name]))}</th><td>${text(localized(detail))}</td></tr>`;
  });
  const differences = card.differences.map((difference) => `<li>${text(localized([difference]))}</li>`);
  const list = differences.length === 0 ? "" : `<ul>${differences.join("")}</ul>`;
  const heading = escaped(vscode.l10n.t("What Sluice does differently for this server"));
  const where = [card.baseUrl, card.model ?? ""].filter((part) => part !== "").join(" · ");
  return `<!DOCTYPE html>
<html lang="${escaped(vscode.env.language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'nonce-${nonce}'">
<title>Sluice</title>
<style nonce="${nonce}">${STYLE}</style>
</head>
<body>
<h1>${text(label)}</h1>
<p class="where">${text(where)}</p>
<p class="verdict${isBad(card) ? " failed" : ""}">${text(verdict(label, card))}</p>
<table>${rows.join("\n")}</table>
${list === "" ? "" : `<h2>${heading}</h2>${list}`}
<p class="cost">${escaped(vscode.l10n.t("Requests: {0}, tokens: {1}", card.requests, card.tokens))}</p>
</body>
</html>`;
}

/** Returns the same as plain text, for a bug report. */
export function cardText(title: string, card: Card): string {
  const rows = card.checks.map(({ label, result, detail }) => `${MARKS[result]} ${localized([label])}: ${localized(detail)}`);
  const differences = card.differences.map((difference) => `• ${localized([difference])}`);
  return [title, `${card.baseUrl} ${card.model ?? ""}`, ...rows, ...differences].join("\n");
}
