// The keys that the user entered with our own command, in VS Code's secret storage. VS Code's own dialog can add a group with a
// key, but it doesn't check the key, and extensions can't change or remove such a group.

import * as vscode from "vscode";

const SECRET = "keys";

export class KeyStore {
  readonly #changed = new vscode.EventEmitter<void>();
  #stored: Promise<string> | undefined;
  /** The user added, changed or removed a key, in this window or another. */
  readonly onDidChange = this.#changed.event;

  constructor(private readonly secrets: vscode.SecretStorage) {
    secrets.onDidChange(({ key }) => {
      if (key === SECRET) {
        this.#stored = undefined;
        this.#changed.fire();
      }
    });
  }

  /** Returns all keys as the core writes them, or an empty text. */
  read(): Promise<string> {
    return (this.#stored ??= Promise.resolve(this.secrets.get(SECRET)).then((stored) => stored ?? ""));
  }

  async write(stored: string): Promise<void> {
    await (stored === "" ? this.secrets.delete(SECRET) : this.secrets.store(SECRET, stored));
  }
}
