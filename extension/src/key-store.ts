// The keys that the user entered with our own command, in VS Code's secret storage. VS Code's own dialog can add a group with a
// key, but it doesn't check the key, and extensions can't change or remove such a group.

import * as vscode from "vscode";

import type { KeptKey } from "../../packages/loader/src/core.js";
import type { Modules } from "../../packages/loader/src/modules.js";

const SECRET = "keys";

export class KeyStore {
  readonly #changed = new vscode.EventEmitter<void>();
  #keys: Promise<readonly KeptKey[]> | undefined;
  /** The user added, changed or removed a key, in this window or another. */
  readonly onDidChange = this.#changed.event;

  constructor(
    private readonly secrets: vscode.SecretStorage,
    private readonly modules: Modules,
  ) {
    secrets.onDidChange(({ key }) => {
      if (key === SECRET) {
        this.#keys = undefined;
        this.#changed.fire();
      }
    });
  }

  /** Returns all keys, in the order in which they were added. */
  list(): Promise<readonly KeptKey[]> {
    const read = async (): Promise<readonly KeptKey[]> => (await this.modules.requests()).readKeys((await this.read()) ?? "");
    const keys = (this.#keys ??= read());
    // A module that failed to load may load the next time.
    keys.catch(() => (this.#keys = undefined));
    return keys;
  }

  /** Returns the stored text, which the core can read. */
  async read(): Promise<string | undefined> {
    return this.secrets.get(SECRET);
  }

  async write(stored: string): Promise<void> {
    await (stored === "" ? this.secrets.delete(SECRET) : this.secrets.store(SECRET, stored));
  }
}
