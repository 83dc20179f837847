// The files of the vault: what servers need back of their answers. All windows of this machine share them.
//
// Vaults can be merged in any order and any number of times, so no window waits for another. To save, a window takes all
// files by renaming them, adds them to its own vault, writes that to a new file and deletes what it took. Whatever a window
// leaves behind when it dies is read and merged like the other files.

import type * as vscode from "vscode";
import type { Modules } from "../../packages/loader/src/modules.js";
import type { Requests } from "../../packages/loader/src/requests.js";
import { Folder } from "./folder.js";
import type { Log } from "./log.js";

/** There is at most one write in this time during a turn. */
const SAVE_AFTER_MS = 2_000;
/** The names of our files. A newer version of Sluice that writes another format gives its files other names, so that they stay. */
const NAME = /^[^.]+\.(json|tmp|taken)$/;
/** A temporary file that is older than this was left behind by a window that crashed. */
const LEFT_BEHIND_MS = 3_600_000;

export class VaultFiles {
  /** The files contain text of conversations. */
  readonly #folder: Folder;
  #opening: Promise<Requests> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #saved: Promise<void> = Promise.resolve();

  constructor(
    private readonly modules: Modules,
    folder: vscode.Uri,
    private readonly log: Log,
  ) {
    this.#folder = new Folder(folder, true);
  }

  /** Returns the requests module with everything that the files contain. */
  open(): Promise<Requests> {
    const opening = (this.#opening ??= this.modules.requests().then(async (requests) => {
      for (const name of await this.#list()) {
        requests.openVault((await this.#folder.readText(name)) ?? "");
      }
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
    this.#saved = this.#folder
      .inTurn(() => this.#save())
      // Everything is still in memory.
      .catch((error: unknown) => this.log.failure("warn", "Reasoning that models need back could not be saved", error));
    return this.#saved;
  }

  /** Called before VS Code closes. */
  async dispose(): Promise<void> {
    await (this.#timer === undefined ? this.#saved : this.save());
  }

  async #save(): Promise<void> {
    const requests = await this.open();
    const taken: string[] = [];
    for (const name of await this.#list()) {
      const mine = `${crypto.randomUUID()}.taken`;
      // Only one window can rename a file.
      const content =
        (await this.#isFinished(name)) && (await this.#folder.rename(name, mine)) ? await this.#folder.readText(mine) : undefined;
      if (content !== undefined) {
        requests.openVault(content);
        taken.push(mine);
      }
    }
    const name = crypto.randomUUID();
    await this.#folder.write(`${name}.json`, requests.saveVault(), `${name}.tmp`);
    await Promise.all(taken.map((name) => this.#folder.delete(name)));
  }

  async #isFinished(name: string): Promise<boolean> {
    const file = name.endsWith(".tmp") ? await this.#folder.stat(name) : { mtime: 0 };
    return file !== undefined && file.mtime < Date.now() - LEFT_BEHIND_MS;
  }

  async #list(): Promise<string[]> {
    return (await this.#folder.list()).filter((name) => NAME.test(name));
  }
}
