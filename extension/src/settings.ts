// The user's settings. All have application scope, so no workspace can change them. The core reads them.

import * as vscode from "vscode";

import type { Settings } from "../../packages/loader/src/core.js";
import type { Requests } from "../../packages/loader/src/requests.js";
import type { Dialogs } from "./dialogs.js";
import { environment } from "./host-process.js";
import type { Log } from "./log.js";
import { localized } from "./messages.js";

/** Returns the current settings. The log masks the values of extra headers from now on. */
export function readSettings(requests: Requests, log: Log): Settings {
  const values = vscode.workspace.getConfiguration().get<object>("sluice", {});
  const named = [...JSON.stringify(values).matchAll(/\$\{env:([^}]*)\}/g)].map(([, name]) => name!);
  const settings = requests.readSettings(values, environment(named));
  for (const headers of Object.values(settings.headers)) {
    Object.values(headers).forEach((value) => log.hide(value));
  }
  return settings;
}

/** Returns whether VS Code's Chat view shows text as soon as it has it, which is an experiment of VS Code. */
export function isIncremental(): boolean {
  return vscode.workspace.getConfiguration("chat.experimental.incrementalRendering").get("enabled") === true;
}

let told = "";

/** Reports settings that can't work, with a link to the first. Reports each set of problems once. */
export async function checkSettings(requests: Requests, log: Log, dialogs: Dialogs): Promise<void> {
  const { problems } = readSettings(requests, log);
  const before = told;
  told = JSON.stringify(problems);
  if (told !== before && problems[0] !== undefined) {
    problems.forEach(({ setting, message }) => log.warn(`sluice.${setting}: ${localized([message])}`));
    await dialogs.run({ settingProblem: { ...problems[0], others: problems.length - 1 } });
  }
}
