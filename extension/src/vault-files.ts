// The files of the vault: what servers need back of their answers. All windows of this machine share them.
//
// Vaults can be merged in any order and any number of times, so no window waits for another. To save, a window takes all
// files by renaming them, adds them to its own vault, writes that to a new file and deletes what it took. Whatever a window
// leaves behind when it dies is read and merged like the other files.

import * as vscode from "vscode";
import type { Modules } from "../../packages/loader/src/modules.js";
import type { Requests } from "../../packages/loader/src/requests.js";
import { makePrivate } from "./host-process.js";
import type { Log } from "./log.js";

/** There is at most one write in this time. */
const SAVE_AFTER_MS = 2_000;
/** The names of our files. A newer version of Sluice that writes another format gives its files other names, so that they stay. */
const NAME = /^[^.]+\.(json|tmp|taken)$/;
/** A temporary file that is older than this was left behind by a window that crashed. */
const LEFT_BEHIND_MS = 3_600_000;

export class VaultFiles {
  #opening: Promise<Requests> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Saving and deleting never overlap. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly modules: Modules,
    private readonly folder: vscode.Uri,
    private readonly log: Log,
  ) {}

  /** Returns the requests module with everything that the files contain. */
  open(): Promise<Requests> {
    const opening = (this.#opening ??= this.modules.requests().then(async (requests) => {
      for (const name of await this.#list()) {
        requests.openVault((await this.#read(name)) ?? "");
      }
      return requests;
    }));
    // A module that failed to load may load the next time.
    opening.catch(() => (this.#opening = undefined));
    return opening;
  }

  /** The vault has changed. */
  changed(): void {
    this.#timer ??= setTimeout(() => void this.save(), SAVE_AFTER_MS);
  }

  /** Deletes everything. Other windows do the same the next time that they save. */
  async clear(): Promise<void> {
    (await this.open()).clearVault();
    await this.save();
  }

  async save(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#turn = this.#turn
      .then(() => this.#save())
      .catch((error: unknown) => {
        // Everything is still in memory.
        this.log.failure("warn", "Reasoning that models need back could not be saved", error);
      });
    await this.#turn;
  }

  /** Called before VS Code closes. */
  async dispose(): Promise<void> {
    await (this.#timer === undefined ? this.#turn : this.save());
  }

  async #save(): Promise<void> {
    const requests = await this.open();
    await vscode.workspace.fs.createDirectory(this.folder);
    // The files contain text of conversations.
    makePrivate(this.folder);
    const taken: string[] = [];
    for (const name of await this.#list()) {
      const mine = `${crypto.randomUUID()}.taken`;
      // Only one window can rename a file.
      const content = (await this.#isFinished(name)) && (await this.#rename(name, mine)) ? await this.#read(mine) : undefined;
      if (content !== undefined) {
        requests.openVault(content);
        taken.push(mine);
      }
    }
    const name = crypto.randomUUID();
    await vscode.workspace.fs.writeFile(this.#file(`${name}.tmp`), new TextEncoder().encode(requests.saveVault()));
    await vscode.workspace.fs.rename(this.#file(`${name}.tmp`), this.#file(`${name}.json`), { overwrite: false });
    await Promise.all(taken.map((name) => vscode.workspace.fs.delete(this.#file(name)).then(undefined, () => undefined)));
  }

  async #isFinished(name: string): Promise<boolean> {
    const stat = name.endsWith(".tmp") ? await vscode.workspace.fs.stat(this.#file(name)).then(undefined, () => undefined) : undefined;
    return !name.endsWith(".tmp") || (stat !== undefined && stat.mtime < Date.now() - LEFT_BEHIND_MS);
  }

  async #list(): Promise<string[]> {
    const entries = await vscode.workspace.fs.readDirectory(this.folder).then(undefined, () => []);
    return entries.map(([name]) => name).filter((name) => NAME.test(name));
  }

  async #read(name: string): Promise<string | undefined> {
    const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
    return vscode.workspace.fs.readFile(this.#file(name)).then(decode, () => undefined);
  }

  async #rename(from: string, to: string): Promise<boolean> {
    const renamed = vscode.workspace.fs.rename(this.#file(from), this.#file(to), { overwrite: false });
    return renamed.then(
      () => true,
      () => false,
    );
  }

  #file(name: string): vscode.Uri {
    return vscode.Uri.joinPath(this.folder, name);
  }
}
