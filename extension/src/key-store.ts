// The keys that the user entered with our own command, in VS Code's secret storage. VS Code's own dialog can add a group with a
// key, but it doesn't check the key, and extensions can't change or remove such a group.

import * as vscode from "vscode";

import type { KeptKey } from "../../packages/loader/src/core.js";
import type { Modules } from "../../packages/loader/src/modules.js";
import type { Requests, Result } from "../../packages/loader/src/requests.js";
import { localized } from "./messages.js";
import { plainError } from "./notify.js";

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
    const keys = (this.#keys ??= this.#ask((requests, stored) => requests.readKeys(stored)));
    // A module that failed to load may load the next time.
    keys.catch(() => (this.#keys = undefined));
    return keys;
  }

  /** Keeps a key. It takes the place of `before`. */
  async put(key: KeptKey, before?: KeptKey): Promise<void> {
    await this.#store(await this.#ask((requests, stored) => requests.putKey(stored, key, before)));
  }

  async remove(key: KeptKey): Promise<void> {
    await this.#store(await this.#ask((requests, stored) => requests.removeKey(stored, key)));
  }

  async #ask<T>(question: (requests: Requests, stored: string) => T): Promise<T> {
    const [requests, stored] = await Promise.all([this.modules.requests(), this.secrets.get(SECRET)]);
    return question(requests, stored ?? "");
  }

  async #store(changed: Result<string>): Promise<void> {
    if ("Err" in changed) {
      throw plainError(localized([changed.Err]));
    }
    await (changed.Ok === "" ? this.secrets.delete(SECRET) : this.secrets.store(SECRET, changed.Ok));
  }
}
