// The list of usage by day or month and by model.

import * as vscode from "vscode";

import type { HistoryPeriod, HistoryRow } from "../../packages/loader/src/core.js";
import { localized } from "./messages.js";
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

/** The models of each day are listed below it. */
function rows(history: readonly HistoryRow[]): Row[] {
  if (history.length === 0) {
    return [{ label: vscode.l10n.t("There is no usage yet. Ask a Sluice model something in the chat.") }];
  }
  return history.flatMap(({ when, model, details, share }, index) => [
    ...(history[index - 1]?.when === when ? [] : [{ label: when, isSeparator: true }]),
    { label: model, description: localized(details, " · "), detail: "█".repeat(Math.max(1, Math.round(share * BAR))) },
  ]);
}
