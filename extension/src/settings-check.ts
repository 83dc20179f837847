// Reports settings that can't work, once, in one message with a link to the setting. The core decides what is wrong.

import * as vscode from "vscode";

import type { ChatRequest } from "../../packages/loader/src/core.js";
import type { Requests } from "../../packages/loader/src/requests.js";
import { settingsBaseUrl } from "./connections.js";
import type { Log } from "./log.js";
import { noteText } from "./messages.js";
import { showWarning } from "./notify.js";
import { extraHeaders, modelSettings, originOf } from "./settings.js";
import type { Modules } from "./wasm.js";

export interface SettingProblem {
  /** For example `sluice.baseUrl`. */
  readonly setting: string;
  readonly message: string;
}

/** Returns everything that is wrong now. */
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
    // Without a list of models, only patterns that no model could match are reported.
    const { notes } = requests.catalog({ baseUrl: NOWHERE, snapshot: undefined, settings: { hide: list ?? [] } });
    for (const note of notes) {
      if (note.kind === "setting") {
        problems.push({ setting: `sluice.${name}`, message: noteText(note) });
      }
    }
  }

  for (const [address, headers] of extraHeaders()) {
    problems.push(...headerProblems(requests, address, headers).map((message) => ({ setting: "sluice.extraHeaders", message })));
  }
  return problems;
}

function headerProblems(requests: Requests, address: string, headers: { readonly [name: string]: string }): string[] {
  // Problems with the base URL itself are reported above.
  if (originOf(address) === undefined && address !== settingsBaseUrl()) {
    return [
      vscode.l10n.t(
        "Headers are set for {0}, an address that Sluice can't send anything to. Write it like https://gateway.example.",
        address,
      ),
    ];
  }
  const { request } = requests.buildRequest(
    JSON.stringify({ model: "none/none", messages: [], options: { extraHeaders: headers, extraBody: {} } } satisfies ChatRequest),
    NOWHERE,
  );
  const sent = new Set(request.headers.map(([name]) => name.toLowerCase()));
  const ours = new Set(["content-type", "accept"]);
  return Object.entries(headers).flatMap(([name, value]) => {
    if (value === "") {
      return [vscode.l10n.t("The header {0} is not sent: its value is empty. Is its environment variable set?", name)];
    }
    const isSent = sent.has(name.toLowerCase()) && !ours.has(name.toLowerCase());
    return isSent
      ? []
      : [vscode.l10n.t("The header {0} is not sent: its name or value contains invalid characters, or Sluice sets it itself.", name)];
  });
}

/** Nothing is sent to this address. */
const NOWHERE = "https://nowhere.invalid/v1";

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
    for (const headers of extraHeaders().values()) {
      Object.values(headers).forEach((value) => this.#log.hide(value));
    }
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
