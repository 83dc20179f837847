// Completes ids of models in the user's settings.json. The manifest names a schema with this scheme for that file, and VS
// Code asks for its contents.

import * as vscode from "vscode";

import type { Modules } from "../../packages/loader/src/modules.js";

const SCHEME = "sluice-schema";

/** Offers the ids that `listed` returns. Call `changed` when there are others. */
export class SettingsSchema implements vscode.TextDocumentContentProvider {
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #asked = new Set<vscode.Uri>();

  constructor(
    private readonly modules: Modules,
    private readonly listed: () => string[],
  ) {}

  register(): vscode.Disposable {
    return vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);
  }

  changed(): void {
    this.#asked.forEach((uri) => this.#changed.fire(uri));
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    this.#asked.add(uri);
    return JSON.stringify((await this.modules.requests()).settingsSchema(this.listed()));
  }
}
