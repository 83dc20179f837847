// A report to attach to a bug: versions, settings, and how the last requests ended. It never contains prompts or
// answers, anything else that a server said, keys, header values, or the user's name.

import * as vscode from "vscode";
import type { Known } from "./connections.js";
import { hostProcess } from "./host-process.js";
import type { Log } from "./log.js";

export interface ReportedList {
  readonly label: string;
  readonly models: number;
  readonly state: string;
}

export interface ReportContent {
  readonly version: string;
  readonly known: readonly Known[];
  readonly lists: readonly ReportedList[];
  readonly log: Log;
  /** The properties in the manifest, by their full names. */
  readonly settings: readonly string[];
}

export function redactedReport({ version, known, lists, log, settings }: ReportContent): string {
  const { platform = "web", arch = null, versions } = hostProcess();
  const report = {
    sluice: version,
    vscode: {
      version: vscode.version,
      host: vscode.env.appHost,
      ui: vscode.env.uiKind === vscode.UIKind.Web ? "web" : "desktop",
      // Some servers put their address there, so only plain names are kept.
      remote: vscode.env.remoteName?.replace(/^.*[^a-z-].*$/, "other") ?? null,
      language: vscode.env.language,
      isTrusted: vscode.workspace.isTrusted,
    },
    machine: { platform, arch, node: versions?.node ?? null },
    thinkingParts: vscode.LanguageModelThinkingPart !== undefined,
    settings: Object.fromEntries(settings.flatMap(changedSetting)),
    connections: known.map((way, index) => ({
      // The label may be the name of a team.
      name: `connection ${index + 1}`,
      ...("problem" in way
        ? { problem: way.problem }
        : { baseUrl: way.connection.endpoint.baseUrl, isDemo: way.connection.isDemo, ...listOf(lists, way.label) }),
    })),
    log: log.recent.map(({ at, level, text }) => `${at} ${level} ${text}`),
  };
  const labels = known.filter((way) => !("connection" in way && way.connection.isDemo)).map(({ label }) => label);
  let json = log.redact(JSON.stringify(report, null, 2));
  for (const label of labels) {
    // As it appears in JSON.
    json = json.replaceAll(JSON.stringify(label).slice(1, -1), "[connection]");
  }
  return json;
}

function listOf(lists: readonly ReportedList[], label: string): { models?: number; list?: string } {
  const list = lists.find((one) => one.label === label);
  return list === undefined ? {} : { models: list.models, list: list.state };
}

/** The settings that the user changed, without anything that could be secret. */
function changedSetting(name: string): [string, unknown][] {
  const value = vscode.workspace.getConfiguration().inspect<unknown>(name)?.globalValue;
  if (value === undefined) {
    return [];
  }
  if (name === "sluice.extraHeaders") {
    return [[name, withoutValues(value)]];
  }
  return [[name, value]];
}

/** Returns the names in a setting, at every depth. */
function withoutValues(value: unknown): unknown {
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withoutValues(inner)]))
    : "[hidden]";
}
