// A report to attach to a bug: versions, settings, and how the last requests ended. It never contains prompts or
// answers, anything else that a server said, keys, header values, or the user's name.

import * as vscode from "vscode";

import type { CommandServices } from "./commands.js";
import { hostProcess } from "./host-process.js";

/** The parts of the manifest that are used. */
interface Manifest {
  readonly version: string;
  readonly contributes: { readonly configuration: { readonly properties: object } };
}

export async function redactedReport({ connections, lists, log, context }: CommandServices): Promise<string> {
  const { version, contributes } = context.extension.packageJSON as Manifest;
  const { platform = "web", arch = null, versions } = hostProcess();
  const known = await connections.all();
  const reported: object[] = [];
  for (const way of known) {
    // The label may be the name of a team.
    const name = `connection ${reported.length + 1}`;
    if ("problem" in way) {
      reported.push({ name, problem: way.problem });
    } else {
      const { endpoint, isDemo } = way.connection;
      // A failing connection must not prevent the report about it.
      const catalog = await lists.list(way.connection).catch(() => undefined);
      reported.push({ name, baseUrl: endpoint.baseUrl, isDemo, models: catalog?.models.length ?? 0, list: catalog?.state ?? "unknown" });
    }
  }
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
    settings: Object.fromEntries(Object.keys(contributes.configuration.properties).map(changedSetting)),
    connections: reported,
    log: log.recent,
  };
  let json = log.redact(JSON.stringify(report, null, 2));
  for (const way of known.filter((way) => "problem" in way || !way.connection.isDemo)) {
    // As it appears in JSON.
    json = json.replaceAll(JSON.stringify(way.label).slice(1, -1), "[connection]");
  }
  return json;
}

/** A setting that the user changed, without anything that could be secret. JSON leaves out the others. */
function changedSetting(name: string): [string, unknown] {
  const value = vscode.workspace.getConfiguration().inspect<unknown>(name)?.globalValue;
  return [name, name === "sluice.extraHeaders" ? withoutValues(value) : value];
}

/** Returns the names in a setting, at every depth. */
function withoutValues(value: unknown): unknown {
  if (typeof value !== "object" || value === null) {
    return value === undefined ? undefined : "[hidden]";
  }
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withoutValues(inner)]));
}
