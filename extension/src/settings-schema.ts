// Completes ids of models in the user's settings.json. The manifest names a schema with this scheme for that file, and VS
// Code asks for its contents.

import * as vscode from "vscode";

import type { Modules } from "../../packages/loader/src/modules.js";

const SCHEME = "sluice-schema";

/** Offers the ids that `listed` returns, and other ones when `onDidChangeModels` fires. */
export function registerSettingsSchema(modules: Modules, listed: () => string[], onDidChangeModels: vscode.Event<void>): vscode.Disposable {
  const asked = new Set<vscode.Uri>();
  const changed = new vscode.EventEmitter<vscode.Uri>();
  onDidChangeModels(() => asked.forEach((uri) => changed.fire(uri)));
  return vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
    onDidChange: changed.event,
    provideTextDocumentContent: async (uri) => {
      asked.add(uri);
      return JSON.stringify((await modules.requests()).settingsSchema(listed()));
    },
  });
}
