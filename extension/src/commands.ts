// The commands in the palette, except those that show usage. The core has the dialogs with the user.

import * as vscode from "vscode";

import type { Dialog } from "../../packages/loader/src/core.js";
import { showError, showInformation } from "./notify.js";
import type { Services } from "./provider.js";
import { redactedReport } from "./report.js";
import type { SpendGuard } from "./spend-guard.js";

const WALKTHROUGH = "start";

export interface CommandServices extends Services {
  readonly context: vscode.ExtensionContext;
  readonly guard: SpendGuard;
}

export function registerCommands(services: CommandServices): vscode.Disposable[] {
  const { context, dialogs, guard, log, recorder, vault } = services;
  const dialog = (which: Dialog) => () => dialogs.run(which);
  const commands: { [name: string]: () => Promise<unknown> } = {
    addKey: dialog("addKey"),
    addServer: dialog("addServer"),
    refreshModels: dialog("refreshModels"),
    chooseDefaultModel: dialog("chooseDefaultModel"),
    editModel: dialog("editModel"),
    setUpModels: dialog("setUpModels"),
    testConnection: dialog("testConnection"),
    signInWithVercelCli: dialog("signIn"),
    signOut: dialog("signOut"),
    smoothStreaming: dialog("smoothStreaming"),
    toggleRecording: () => dialogs.run({ toggleRecording: { nowMs: Date.now(), hasWorkspace: context.storageUri !== undefined } }),
    deleteRecordings: () => recorder.deleteAll(),
    raiseLimit: () => guard.raise(),
    deleteReasoning: async () => {
      await vault.clear();
      void showInformation(vscode.l10n.t("Sluice: the reasoning of earlier answers is deleted."));
    },
    exportReport: async () => {
      const content = await redactedReport(services);
      await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content, language: "json" }));
    },
    openWalkthrough: async () =>
      vscode.commands.executeCommand("workbench.action.openWalkthrough", `${context.extension.id}#${WALKTHROUGH}`, false),
  };
  return Object.entries(commands).map(([name, run]) =>
    vscode.commands.registerCommand(`sluice.${name}`, async () => {
      try {
        await run();
      } catch (error) {
        log.failure("error", name, error);
        void showError(`Sluice: ${log.redact(error instanceof Error ? error.message : String(error))}`);
      }
    }),
  );
}
