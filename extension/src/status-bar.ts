// How full the conversation is, in the status bar. Text, colour and tooltip come from the core.

import * as vscode from "vscode";

import type { StatusLine } from "../../crates/sluice-wasm/js/src/core.js";

export class StatusBar {
  readonly #item: vscode.StatusBarItem;
  #line: StatusLine | undefined;
  #retrying: string | undefined;

  constructor() {
    this.#item = vscode.window.createStatusBarItem("sluice.status", vscode.StatusBarAlignment.Right, 100);
    this.#item.name = "Sluice";
    this.#item.command = "sluice.showUsage";
  }

  /** The newest request's conversation is shown. Nothing to say is nothing new: what is shown stays. */
  show(line: StatusLine | null): void {
    if (line !== null) {
      this.#line = line;
      this.#retrying = undefined;
      this.#render();
    }
  }

  /** A request waits to be sent again. */
  retrying(message: string, delayMs: number): void {
    this.#retrying = vscode.l10n.t("{0} Asking again in {1} s.", message, Math.ceil(delayMs / 1000));
    this.#render();
  }

  dispose(): void {
    this.#item.dispose();
  }

  #render(): void {
    const line = this.#line;
    const isBusy = line !== undefined && line.activity !== "idle";
    const icon = this.#retrying !== undefined ? "$(sync~spin)" : isBusy ? "$(loading~spin)" : "$(dashboard)";
    this.#item.text = `${icon} ${line?.text ?? "Sluice"}`;
    const background = { normal: undefined, warning: "statusBarItem.warningBackground", error: "statusBarItem.errorBackground" };
    const colour = background[line?.level ?? "normal"];
    this.#item.backgroundColor = colour === undefined ? undefined : new vscode.ThemeColor(colour);
    const tooltip = new vscode.MarkdownString();
    if (this.#retrying !== undefined) {
      tooltip.appendText(this.#retrying).appendMarkdown("\n\n");
    }
    tooltip.appendMarkdown("| | |\n|:--|--:|\n");
    for (const { label, value } of line?.tooltip ?? []) {
      tooltip.appendMarkdown(`| ${cell(label)} | ${cell(value)} |\n`);
    }
    this.#item.tooltip = tooltip;
    this.#item.accessibilityInformation = { label: `Sluice: ${line?.text ?? ""}` };
    this.#item.show();
  }
}

function cell(text: string): string {
  return text.replace(/[\\|`*_{}[\]()#+<>!]/g, "\\$&");
}
