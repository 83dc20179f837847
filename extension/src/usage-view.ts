// The list of usage by day or month and by model.

import * as vscode from "vscode";

import type { HistoryPeriod, HistoryRow } from "../../packages/loader/src/core.js";
import { type Page, type Row, showPages } from "./notify.js";
import type { TokenCounts } from "./tokens.js";

const BAR = 16;

export function showUsage(counts: TokenCounts): Promise<void> {
  const page = (period: HistoryPeriod, icon: string, tooltip: string): Page => ({
    iconPath: new vscode.ThemeIcon(icon),
    tooltip,
    rows: async () => rows(await counts.history(period)),
  });
  return showPages(vscode.l10n.t("Sluice: tokens and cost"), vscode.l10n.t("Days are counted in UTC, as gateways bill them"), [
    page("day", "list-unordered", vscode.l10n.t("By day")),
    page("month", "calendar", vscode.l10n.t("By month")),
  ]);
}

/** Newest first. The models of each day are listed below it, the busiest first. */
function rows(history: readonly HistoryRow[]): Row[] {
  if (history.length === 0) {
    return [{ label: vscode.l10n.t("There is no usage yet. Ask a Sluice model something in the chat.") }];
  }
  const tokens = ({ totals }: HistoryRow): number => totals.inputTokens + totals.outputTokens;
  const most = Math.max(...history.map(tokens), 1);
  const days = [...new Set(history.map(({ when }) => when))].reverse();
  return days.flatMap((when) => {
    const models = history.filter((row) => row.when === when).sort((a, b) => tokens(b) - tokens(a));
    return [
      { label: when, isSeparator: true },
      ...models.map((row) => ({
        label: row.model,
        description: describe(row),
        detail: "█".repeat(Math.max(1, Math.round((tokens(row) / most) * BAR))),
      })),
    ];
  });
}

function describe({ totals, tokensPerSecond }: HistoryRow): string {
  const count = new Intl.NumberFormat(vscode.env.language, { notation: "compact", maximumFractionDigits: 1 });
  const parts = [
    vscode.l10n.t("{0} requests", totals.requests),
    vscode.l10n.t("{0} in ({1} cached)", count.format(totals.inputTokens), count.format(totals.cachedTokens)),
    vscode.l10n.t("{0} out ({1} thinking)", count.format(totals.outputTokens), count.format(totals.reasoningTokens)),
  ];
  if (totals.cost > 0) {
    parts.push(`$${totals.cost.toPrecision(2)}`);
  }
  if (tokensPerSecond !== null) {
    parts.push(vscode.l10n.t("{0} tokens/s", tokensPerSecond.toFixed(0)));
  }
  return parts.join(" · ");
}
