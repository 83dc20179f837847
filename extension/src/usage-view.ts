// What was used, by day or by month and by model: a list to look at.

import * as vscode from "vscode";

import type { HistoryRow } from "../../crates/sluice-wasm/js/src/tokens.js";
import type { TokenCounts } from "./tokens.js";

const BAR = 16;

export async function showUsage(counts: TokenCounts): Promise<void> {
  const pick = vscode.window.createQuickPick();
  const byMonth: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("calendar"), tooltip: vscode.l10n.t("By month") };
  const byDay: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon("list-unordered"), tooltip: vscode.l10n.t("By day") };
  const show = async (period: "day" | "month"): Promise<void> => {
    pick.busy = true;
    pick.items = items(await counts.history(period));
    pick.buttons = [period === "day" ? byMonth : byDay];
    pick.busy = false;
  };
  pick.title = vscode.l10n.t("Sluice: tokens and cost");
  pick.placeholder = vscode.l10n.t("Days are counted in UTC, as gateways bill them");
  pick.matchOnDescription = true;
  pick.onDidTriggerButton((button) => void show(button === byMonth ? "month" : "day"));
  pick.onDidAccept(() => pick.hide());
  pick.onDidHide(() => pick.dispose());
  pick.show();
  await show("day");
}

/** The newest first; under each day its models, the busiest first. */
function items(rows: readonly HistoryRow[]): vscode.QuickPickItem[] {
  if (rows.length === 0) {
    return [{ label: vscode.l10n.t("Nothing was used yet. Ask a Sluice model something in the chat.") }];
  }
  const tokens = ({ totals }: HistoryRow): number => totals.inputTokens + totals.outputTokens;
  const most = Math.max(...rows.map(tokens), 1);
  const days = [...new Set(rows.map(({ when }) => when))].reverse();
  return days.flatMap((when) => {
    const models = rows.filter((row) => row.when === when).sort((a, b) => tokens(b) - tokens(a));
    return [
      { label: when, kind: vscode.QuickPickItemKind.Separator },
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
