// Collects the facts of a report to attach to a bug. The core removes what is private (editor/report.rs).

import * as vscode from "vscode";

import type { CommandServices } from "./commands.js";
import { isUsable } from "./connections.js";
import { hostProcess } from "./host-process.js";

/** The parts of the manifest that are used. */
interface Manifest {
  readonly version: string;
  readonly contributes: { readonly configuration: { readonly properties: object } };
}

export async function redactedReport({ connections, lists, log, context, modules }: CommandServices): Promise<string> {
  const { version, contributes } = context.extension.packageJSON as Manifest;
  const { platform = "web", arch = null, versions } = hostProcess();
  const settings = vscode.workspace.getConfiguration();
  const known = await connections.all();
  const reported = known.map(async (way, index) => {
    // The label may be the name of a team.
    const name = `connection ${index + 1}`;
    if (!isUsable(way)) {
      return { name, problem: way.problem ?? "" };
    }
    // A failing connection must not prevent the report about it.
    const catalog = await lists.list(way).catch(() => undefined);
    return {
      name,
      baseUrl: way.endpoint.baseUrl,
      isDemo: way.isDemo,
      models: catalog?.models.length ?? 0,
      list: catalog?.state ?? "unknown",
    };
  });
  return (await modules.requests()).report({
    sluice: version,
    vscode: {
      version: vscode.version,
      host: vscode.env.appHost,
      ui: vscode.env.uiKind === vscode.UIKind.Web ? "web" : "desktop",
      remote: vscode.env.remoteName ?? null,
      language: vscode.env.language,
      isTrusted: vscode.workspace.isTrusted,
    },
    machine: { platform, arch, node: versions?.node ?? null },
    thinkingParts: vscode.LanguageModelThinkingPart !== undefined,
    settings: Object.fromEntries(
      Object.keys(contributes.configuration.properties).map((name) => [name, settings.inspect(name)?.globalValue]),
    ),
    connections: await Promise.all(reported),
    log: log.recent,
    labels: known.filter(({ isDemo }) => !isDemo).map(({ label }) => label),
    secrets: [...log.secrets],
  });
}
