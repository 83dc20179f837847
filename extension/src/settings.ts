// The user's settings, in the core's format. All have application scope, so no workspace can change them. The core decides
// what is wrong with them.

import * as vscode from "vscode";

import type { ChatOptions, ModelSettings, Settings } from "../../packages/loader/src/core.js";
import type { Requests } from "../../packages/loader/src/requests.js";
import { environment } from "./host-process.js";
import type { Log } from "./log.js";
import { localized } from "./messages.js";
import { showWarning } from "./notify.js";

function setting<T>(name: string, otherwise: T): T {
  return vscode.workspace.getConfiguration("sluice").get<T>(name) ?? otherwise;
}

export function settingsBaseUrl(): string {
  return setting("baseUrl", "");
}

export function modelSettings(): ModelSettings {
  const first = setting("models.default", "");
  return {
    hide: setting<string[]>("models.hidden", []),
    favourites: setting<string[]>("models.favourites", []),
    default: first === "" ? [] : [first],
    ...effortSetting(),
  };
}

function effortSetting(): { effort?: string } {
  const effort = setting("thinking.effort", "default");
  return effort === "default" ? {} : { effort };
}

/** The settings that may contain mistakes. */
export function checkedSettings(): Settings {
  const extraHeaders = setting("extraHeaders", {});
  const named = [...JSON.stringify(extraHeaders).matchAll(/\$\{env:([^}]*)\}/g)].map(([, name]) => name!);
  return { baseUrl: settingsBaseUrl(), models: modelSettings(), extraHeaders, environment: environment(named) };
}

/** Returns the extra headers of each origin. The log masks their values from now on. */
export function extraHeaders(requests: Requests, log: Log): { [origin: string]: { [name: string]: string } } {
  const headers = requests.headersByOrigin(checkedSettings());
  Object.values(headers)
    .flatMap((one) => Object.values(one))
    .forEach((value) => log.hide(value));
  return headers;
}

/** The settings that apply to every request with these extra headers. */
export function chatOptions(extraHeaders: { [name: string]: string } = {}): ChatOptions {
  const { effort } = effortSetting();
  const sort = setting("routing.sort", "default");
  return {
    ...(effort === undefined ? {} : { reasoningEffort: effort }),
    automaticCaching: setting("caching", true),
    claudeContextManagement: setting("claudeContextManagement", false),
    extraHeaders,
    routing: {
      order: setting<string[]>("routing.order", []),
      only: setting<string[]>("routing.only", []),
      models: setting<string[]>("routing.fallbacks", []),
      ...(sort === "default" ? {} : { sort }),
    },
    extraBody: {},
  };
}

export function idleTimeoutMs(): number {
  return Math.min(Math.max(setting("idleTimeoutSeconds", 600), 10), 3600) * 1000;
}

export function thinkingFallback(): "hide" | "text" {
  return setting("thinking.fallback", "hide");
}

let told = "";

/** Reports settings that can't work in one message with a link to the first. Reports each set of problems once. */
export async function checkSettings(requests: Requests, log: Log): Promise<void> {
  // The log must not show the values of headers.
  extraHeaders(requests, log);
  const problems = requests.checkSettings(checkedSettings());
  const before = told;
  told = JSON.stringify(problems);
  if (told === before || problems[0] === undefined) {
    return;
  }
  problems.forEach(({ setting, message }) => log.warn(`sluice.${setting}: ${localized([message])}`));
  const others = problems.length - 1;
  const more = others === 0 ? "" : ` ${vscode.l10n.t("({0} more in the log)", others)}`;
  const open = vscode.l10n.t("Open the Setting");
  if ((await showWarning(`Sluice: ${localized([problems[0].message])}${more}`, open)) === open) {
    await openSetting(problems[0].setting);
  }
}

export async function openSetting(name: string): Promise<void> {
  await vscode.commands.executeCommand("workbench.action.openSettings", `@id:sluice.${name}`);
}
