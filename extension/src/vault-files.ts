// When the vault is read and saved: what servers need back of their answers. The core decides how (files/vault.rs).

import type * as vscode from "vscode";
import type { Modules } from "../../packages/loader/src/modules.js";
import type { Requests } from "../../packages/loader/src/requests.js";
import { Folder, Saver } from "./folder.js";
import type { Log } from "./log.js";

export class VaultFiles {
  readonly #folder: Folder;
  readonly #saver: Saver;
  #opening: Promise<Requests> | undefined;

  constructor(
    private readonly modules: Modules,
    folder: vscode.Uri,
    log: Log,
  ) {
    // Everything is still in memory.
    const failed = (error: unknown): void => log.failure("warn", "Reasoning that models need back could not be saved", error);
    this.#folder = new Folder(folder, failed);
    this.#saver = new Saver(async () => {
      const save = this.open().then((requests) => this.#folder.inTurn((folder) => requests.work("save", folder)));
      await save.catch(failed);
    });
  }

  /** Returns the requests module with everything that the files contain. */
  open(): Promise<Requests> {
    const opening = (this.#opening ??= this.modules.requests().then(async (requests) => {
      await this.#folder.inTurn((folder) => requests.work("open", folder));
      return requests;
    }));
    // A module that failed to load may load the next time.
    opening.catch(() => (this.#opening = undefined));
    return opening;
  }

  /** The vault has changed. It is saved at once when a turn is over, because VS Code may close the window without a warning. */
  changed(isTurnOver: boolean): void {
    void (isTurnOver ? this.save() : this.#saver.soon());
  }

  /** Deletes everything. Other windows do the same the next time that they save. */
  async clear(): Promise<void> {
    (await this.open()).clearVault();
    await this.save();
  }

  save(): Promise<void> {
    return this.#saver.now();
  }

  /** Called before VS Code closes. */
  dispose(): Promise<void> {
    return this.#saver.settled();
  }
}
