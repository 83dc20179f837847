// What the user chose for a model in VS Code's model picker, such as the thinking effort. VS Code 1.139 passes it with a request only
// if the model belongs to a group in Manage Models. The choices for models of other keys are in the file of those groups, next to the
// user's settings. An extension on another machine than the user's settings can't read it.

import * as vscode from "vscode";

export type Choices = { readonly [name: string]: unknown };

interface Group {
  readonly vendor?: unknown;
  readonly settings?: { readonly [id: string]: Choices | undefined };
}

export class PickerChoices {
  readonly #file: vscode.Uri;

  constructor(globalStorage: vscode.Uri) {
    this.#file = vscode.Uri.joinPath(globalStorage, "../../chatLanguageModels.json");
  }

  /** Returns what was chosen for a model of ours that belongs to no group. */
  async for(id: string): Promise<Choices> {
    try {
      const groups = JSON.parse(new TextDecoder().decode(await vscode.workspace.fs.readFile(this.#file))) as readonly Group[];
      return groups.find(({ vendor, settings }) => vendor === "sluice" && settings?.[id] !== undefined)?.settings?.[id] ?? {};
    } catch {
      // Nothing was ever chosen, or the file is out of reach.
      return {};
    }
  }
}
