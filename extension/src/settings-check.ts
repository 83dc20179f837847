// Reports settings that can't work, once, in one message with a link to the setting. The core decides what is wrong.

import * as vscode from "vscode";

import type { SettingKind, Settings } from "../../packages/loader/src/core.js";
import type { Requests } from "../../packages/loader/src/requests.js";
import { settingsBaseUrl } from "./connections.js";
import type { Log } from "./log.js";
import { localized } from "./messages.js";
import { showWarning } from "./notify.js";
import { extraHeaders, modelSettings, originOf } from "./settings.js";
import type { Modules } from "./wasm.js";

/** The settings that VS Code and the core name differently. */
const NAMES: { readonly [kind in SettingKind]?: string } = {
  hide: "models.hidden",
  favourites: "models.favourites",
  default: "models.default",
};

interface Problem {
  /** For example `sluice.baseUrl`. */
  readonly setting: string;
  readonly message: string;
}

function problemsIn(requests: Requests): Problem[] {
  const check = (settings: Settings): Problem[] =>
    requests.checkSettings(settings).map(({ setting, message }) => ({
      setting: `sluice.${NAMES[setting] ?? setting}`,
      message: localized([message]),
    }));
  const problems = check({ baseUrl: settingsBaseUrl(), models: modelSettings() });
  for (const [address, headers] of extraHeaders(requests)) {
    // Problems with the base URL itself are reported above.
    if (originOf(requests, address) === undefined && address !== settingsBaseUrl()) {
      const message = vscode.l10n.t(
        "Headers are set for {0}, an address that Sluice can't send anything to. Write it like https://gateway.example.",
        address,
      );
      problems.push({ setting: "sluice.extraHeaders", message });
    } else {
      problems.push(...check({ extraHeaders: headers }));
    }
  }
  return problems;
}

/** Reports each set of problems once, however often it is checked. */
export class SettingsCheck {
  readonly #modules: Modules;
  readonly #log: Log;
  #told = "";

  constructor(modules: Modules, log: Log) {
    this.#modules = modules;
    this.#log = log;
  }

  async run(): Promise<void> {
    const requests = await this.#modules.requests();
    for (const headers of extraHeaders(requests).values()) {
      Object.values(headers).forEach((value) => this.#log.hide(value));
    }
    const problems = problemsIn(requests);
    const first = problems[0];
    const state = JSON.stringify(problems);
    if (state === this.#told) {
      return;
    }
    this.#told = state;
    if (first === undefined) {
      return;
    }
    for (const { setting, message } of problems) {
      this.#log.warn(`${setting}: ${message}`);
    }
    const others = problems.length - 1;
    const more = others === 0 ? "" : ` ${vscode.l10n.t("({0} more in the log)", others)}`;
    const open = vscode.l10n.t("Open the Setting");
    const chosen = await showWarning(`Sluice: ${first.message}${more}`, open);
    if (chosen === open) {
      await vscode.commands.executeCommand("workbench.action.openSettings", `@id:${first.setting}`);
    }
  }
}
