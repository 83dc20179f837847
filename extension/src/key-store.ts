// The keys that the user entered with our own command, in VS Code's secret storage. VS Code's own dialog can add a group with a
// key, but it doesn't check the key, and extensions can't change or remove such a group.

import * as vscode from "vscode";

import { plainError } from "./notify.js";

const SECRET = "keys";

/** A server and the key for it, or a new key for a group in Manage Models. */
export interface KeptKey {
  /** The name that the user sees. */
  readonly name: string;
  readonly baseUrl: string;
  /** Absent if the server needs none. */
  readonly key?: string;
  /** The fingerprint of the key in Manage Models that this one replaces. */
  readonly replaces?: string;
}

export class KeyStore {
  readonly #changed = new vscode.EventEmitter<void>();
  #keys: Promise<readonly KeptKey[]> | undefined;
  /** The user added, changed or removed a key, in this window or another. */
  readonly onDidChange = this.#changed.event;

  constructor(private readonly secrets: vscode.SecretStorage) {
    secrets.onDidChange(({ key }) => {
      if (key === SECRET) {
        this.#keys = undefined;
        this.#changed.fire();
      }
    });
  }

  /** Returns all keys, in the order in which they were added. */
  list(): Promise<readonly KeptKey[]> {
    return (this.#keys ??= Promise.resolve(this.secrets.get(SECRET)).then((kept) => (kept === undefined ? [] : parsed(kept))));
  }

  /** Keeps a key. It takes the place of `before`. */
  async put(key: KeptKey, before?: KeptKey): Promise<void> {
    const keys = await this.list();
    const place = keys.findIndex((one) => isSame(one, before ?? key));
    await this.#store(place < 0 ? [...keys, key] : keys.with(place, key));
  }

  async remove(key: KeptKey): Promise<void> {
    await this.#store((await this.list()).filter((one) => !isSame(one, key)));
  }

  async #store(keys: readonly KeptKey[]): Promise<void> {
    const kept = await this.secrets.get(SECRET);
    if (kept !== undefined && isOfNewerVersion(kept)) {
      throw plainError(
        vscode.l10n.t("A newer version of Sluice keeps the keys, and this one leaves them alone. Update it to change them."),
      );
    }
    await (keys.length === 0 ? this.secrets.delete(SECRET) : this.secrets.store(SECRET, JSON.stringify(keys)));
  }
}

function isSame(one: KeptKey, other: KeptKey): boolean {
  return one.name === other.name && one.replaces === other.replaces;
}

/** The first version is a list, without a number. Newer ones are objects with one. */
function isOfNewerVersion(kept: string): boolean {
  try {
    return typeof (JSON.parse(kept) as { version?: unknown } | null)?.version === "number";
  } catch {
    return false;
  }
}

/** Leaves out what is damaged. A newer version's keys aren't read. */
function parsed(kept: string): KeptKey[] {
  try {
    const keys = JSON.parse(kept) as KeptKey[];
    return keys.filter(({ name, baseUrl, key }) => [name, baseUrl, key ?? ""].every((field) => typeof field === "string"));
  } catch {
    return [];
  }
}
