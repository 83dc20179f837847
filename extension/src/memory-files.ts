// What outlives a window: token counts that servers reported, and usage. All windows of this machine share it.
//
// An extension cannot lock a file so that the lock goes when its holder dies. So no window ever writes a file that another one
// may be writing: to save, a window *takes* a file by renaming it, which only one can do, adds its own counts and usage, and renames
// it back. A window that finds nothing to take begins another file. It doesn't matter which file has what, because counts are
// merged and usage is added when they are read. A window that dies while it saves leaves a file that is still read, under the
// name that it has, though no longer written.

import * as vscode from "vscode";

import type { Tokens } from "../../packages/loader/src/tokens.js";
import type { Log } from "./log.js";
import { localized } from "./messages.js";

/** The normal name of a file, which it has unless a window is writing it. */
const FREE = /^memory(-[\w-]+)?$/;
/**
 * All its names, in the order in which they are tried. To replace the content of a taken file, `.tmp` is renamed over
 * it.
 */
const NAMES = ["", ".taken", "", ".tmp"];

export class MemoryFiles {
  /** Saving and loading never overlap, because loading forgets what isn't saved. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly folder: vscode.Uri,
    private readonly log: Log,
  ) {}

  /** Replaces the ledger's memory by the contents of the files. */
  load(tokens: Tokens): Promise<void> {
    return this.#inTurn(async () => {
      tokens.openMemory(await this.#key());
      for (const name of new Set((await this.#list()).map((name) => name.replace(/\.(taken|tmp)$/, "")))) {
        const bytes = FREE.test(name) ? await this.#readAny(name) : undefined;
        const [state, message] = bytes === undefined ? ["missing", null] : tokens.addMemory(bytes);
        if (message !== null) {
          this.log.warn(localized([{ code: message, args: [] }]));
        }
        if (state === "damaged") {
          await this.#rename(name, `${name}.corrupt`).catch(() => undefined);
        }
      }
    });
  }

  /** Adds what the ledger has not saved yet to one of the files. Returns whether it could. */
  save(tokens: Tokens): Promise<boolean> {
    return this.#inTurn(async () => {
      try {
        for (const name of await this.#list()) {
          if (FREE.test(name) && (await this.#saveTo(tokens, name))) {
            return true;
          }
        }
        const name = `memory-${crypto.randomUUID()}`;
        await this.#write(tokens, name);
        await this.#rename(`${name}.taken`, name);
        return true;
      } catch (error) {
        // It is tried again after the next answer. Everything is still in memory.
        this.log.failure("warn", "Token counts and usage could not be saved", error);
        return false;
      }
    });
  }

  /** Returns false if another window has the file, or if a newer version of Sluice wrote it. */
  async #saveTo(tokens: Tokens, name: string): Promise<boolean> {
    try {
      await this.#rename(name, `${name}.taken`);
    } catch {
      return false;
    }
    try {
      return await this.#write(tokens, name);
    } finally {
      await this.#rename(`${name}.taken`, name);
    }
  }

  /** Replaces the content of a file that this window has taken. */
  async #write(tokens: Tokens, name: string): Promise<boolean> {
    const bytes = tokens.saveMemory(await this.#read(`${name}.taken`));
    if (bytes === undefined) {
      return false;
    }
    await vscode.workspace.fs.writeFile(this.#file(`${name}.tmp`), bytes);
    await vscode.workspace.fs.rename(this.#file(`${name}.tmp`), this.#file(`${name}.taken`), { overwrite: true });
    tokens.memorySaved();
    return true;
  }

  /** Hashes made with this key mean nothing on another machine. */
  async #key(): Promise<Uint8Array> {
    const known = await this.#read("key");
    if (known?.length === 16) {
      return known;
    }
    const key = crypto.getRandomValues(new Uint8Array(16));
    const unfinished = `key.${crypto.randomUUID()}.tmp`;
    try {
      await vscode.workspace.fs.writeFile(this.#file(unfinished), key);
      await vscode.workspace.fs.rename(this.#file(unfinished), this.#file("key"), { overwrite: known !== undefined });
    } catch {
      // Another window was faster, or nothing can be written.
      await vscode.workspace.fs.delete(this.#file(unfinished)).then(undefined, () => undefined);
    }
    return (await this.#read("key")) ?? key;
  }

  async #list(): Promise<string[]> {
    const entries = await vscode.workspace.fs.readDirectory(this.folder).then(undefined, () => []);
    return entries.map(([name]) => name).sort();
  }

  /** Reads a file under any of its names, because another window may be renaming it. */
  async #readAny(name: string): Promise<Uint8Array | undefined> {
    for (const suffix of NAMES) {
      const bytes = await this.#read(name + suffix);
      if (bytes !== undefined) {
        return bytes;
      }
    }
    return undefined;
  }

  async #read(name: string): Promise<Uint8Array | undefined> {
    return vscode.workspace.fs.readFile(this.#file(name)).then(undefined, () => undefined);
  }

  /** Fails if there is no such file, or if the new name is taken. */
  async #rename(from: string, to: string): Promise<void> {
    await vscode.workspace.fs.rename(this.#file(from), this.#file(to), { overwrite: false });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  #file(name: string): vscode.Uri {
    return vscode.Uri.joinPath(this.folder, name);
  }
}
