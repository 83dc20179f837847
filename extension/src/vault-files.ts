// When the vault is read and saved: what servers need back of their answers. The core decides how (files/vault.rs).

import type * as vscode from "vscode";
import type { Modules } from "../../packages/loader/src/modules.js";
import type { Requests } from "../../packages/loader/src/requests.js";
import { Folder } from "./folder.js";
import type { Log } from "./log.js";

/** There is at most one write in this time during a turn. */
const SAVE_AFTER_MS = 2_000;

export class VaultFiles {
  readonly #folder: Folder;
  #opening: Promise<Requests> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #saved: Promise<void> = Promise.resolve();

  constructor(
    private readonly modules: Modules,
    folder: vscode.Uri,
    private readonly log: Log,
  ) {
    this.#folder = new Folder(folder, (error) => this.#failed(error));
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
    if (isTurnOver) {
      void this.save();
    } else {
      this.#timer ??= setTimeout(() => void this.save(), SAVE_AFTER_MS);
    }
  }

  /** Deletes everything. Other windows do the same the next time that they save. */
  async clear(): Promise<void> {
    (await this.open()).clearVault();
    await this.save();
  }

  save(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#saved = this.#save().catch((error: unknown) => this.#failed(error));
    return this.#saved;
  }

  /** Called before VS Code closes. */
  async dispose(): Promise<void> {
    await (this.#timer === undefined ? this.#saved : this.save());
  }

  async #save(): Promise<void> {
    const requests = await this.open();
    await this.#folder.inTurn((folder) => requests.work("save", folder));
  }

  /** Everything is still in memory. */
  #failed(error: unknown): void {
    this.log.failure("warn", "Reasoning that models need back could not be saved", error);
  }
}
