// Settings that cannot work are told once, in one message, with a way to the setting. What is wrong the core says.

import * as vscode from "vscode";

import type { Requests } from "../../crates/sluice-wasm/js/src/requests.js";
import type { Log } from "./log.js";
import { showWarning } from "./notify.js";
import { chatOptions, modelSettings } from "./settings.js";
import type { Modules } from "./wasm.js";

export interface SettingProblem {
  /** Such as `sluice.baseUrl`. */
  readonly setting: string;
  readonly message: string;
}

/** Everything that is wrong now. */
export function settingProblems(requests: Requests): SettingProblem[] {
  const problems: SettingProblem[] = [];
  const configuration = vscode.workspace.getConfiguration("sluice");
  try {
    requests.parseEndpoint(configuration.get("baseUrl", ""));
  } catch (error) {
    problems.push({ setting: "sluice.baseUrl", message: error instanceof Error ? error.message : String(error) });
  }

  const settings = modelSettings();
  const patterns = { "models.hidden": settings.hide, "models.favourites": settings.favourites, "models.default": settings.default };
  for (const [name, list] of Object.entries(patterns)) {
    // Without a list of models only patterns are noted that no model could match.
    const { notes } = requests.catalog({ baseUrl: NOWHERE, snapshot: undefined, settings: { hide: list ?? [] } });
    for (const { kind, detail } of notes) {
      if (kind === "setting") {
        problems.push({ setting: `sluice.${name}`, message: detail });
      }
    }
  }

  const { extraHeaders = {} } = chatOptions();
  const { request } = requests.buildRequest(
    { model: "none/none", messages: [], options: { extraHeaders, extraBody: {} } },
    NOWHERE,
  );
  const sent = new Set(request.headers.map(([name]) => name.toLowerCase()));
  const ours = new Set(["content-type", "accept"]);
  for (const [name, value] of Object.entries(extraHeaders)) {
    const lower = name.toLowerCase();
    if (value === "") {
      const message = vscode.l10n.t("The header {0} is not sent: its value is empty. Is the environment variable that it names set?", name);
      problems.push({ setting: "sluice.extraHeaders", message });
    } else if (!sent.has(lower) || ours.has(lower)) {
      const message = vscode.l10n.t(
        "The header {0} is not sent: its name or its value has characters that no header has, or it is one that Sluice sets itself.",
        name,
      );
      problems.push({ setting: "sluice.extraHeaders", message });
    }
  }
  return problems;
}

/** Nothing is sent there. */
const NOWHERE = "https://nowhere.invalid/v1";

/** Tells each state of things once, however often it is looked at. */
export class SettingsCheck {
  readonly #modules: Modules;
  readonly #log: Log;
  #told = "";

  constructor(modules: Modules, log: Log) {
    this.#modules = modules;
    this.#log = log;
  }

  async run(): Promise<void> {
    Object.values(chatOptions().extraHeaders ?? {}).forEach((value) => this.#log.hide(value));
    const problems = settingProblems(await this.#modules.requests());
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
