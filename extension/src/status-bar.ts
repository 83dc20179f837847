// Shows in the status bar how full the conversation is. Text, colour and tooltip come from the core.

import * as vscode from "vscode";

import type { StatusLine } from "../../packages/loader/src/core.js";
import { localized } from "./messages.js";
import { StatusItem } from "./notify.js";

export class StatusBar {
  readonly #item = new StatusItem("sluice.status", "Sluice", "sluice.showUsage");
  #line: StatusLine | undefined;
  #retrying: string | undefined;

  /** Shows the conversation of the newest request. Without a line, nothing changes. */
  show(line: StatusLine | null): void {
    if (line !== null) {
      this.#line = line;
      this.#retrying = undefined;
      this.#render();
    }
  }

  /** Shows that a request is waiting to be sent again. */
  retrying(message: string, delayMs: number): void {
    this.#retrying = vscode.l10n.t("{0} Trying again in {1} s.", message, Math.ceil(delayMs / 1000));
    this.#render();
  }

  dispose(): void {
    this.#item.dispose();
  }

  #render(): void {
    const line = this.#line;
    const isBusy = line !== undefined && line.activity !== "idle";
    const background = { normal: undefined, warning: "statusBarItem.warningBackground", error: "statusBarItem.errorBackground" };
    const colour = background[line?.level ?? "normal"];
    this.#item.show({
      icon: this.#retrying !== undefined ? "sync~spin" : isBusy ? "loading~spin" : "dashboard",
      text: line === undefined ? "Sluice" : localized(line.text, " · "),
      background: colour === undefined ? undefined : new vscode.ThemeColor(colour),
      note: this.#retrying,
      table: (line?.tooltip ?? []).map(({ label, value }) => ({ label: localized([label]), value: localized(value, ", ") })),
    });
  }
}
