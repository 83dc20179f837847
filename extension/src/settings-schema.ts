// Completes ids of models in the user's settings.json. The manifest names a schema with this scheme for that file, and VS
// Code asks for its contents.

import * as vscode from "vscode";

const SCHEME = "sluice-schema";

/** Offers the ids that `listed` returns. Call `changed` when there are others. */
export class SettingsSchema implements vscode.TextDocumentContentProvider {
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #asked = new Set<vscode.Uri>();

  constructor(private readonly listed: () => readonly string[]) {}

  register(): vscode.Disposable {
    return vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);
  }

  changed(): void {
    this.#asked.forEach((uri) => this.#changed.fire(uri));
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    this.#asked.add(uri);
    const ids = [...new Set(this.listed())];
    // Examples are completed, and other values stay valid.
    const items = { examples: ids };
    const schema = {
      properties: {
        "sluice.models.overrides": { properties: Object.fromEntries(ids.map((id) => [id, {}])) },
        "sluice.models.default": items,
        "sluice.models.hidden": { items },
        "sluice.models.favourites": { items },
      },
    };
    return JSON.stringify(schema);
  }
}
