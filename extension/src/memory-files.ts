// What outlives a window: token counts that servers reported, and usage. All windows of this machine share it.
//
// An extension has no lock that is released when its holder dies. So no window ever writes a file that another one may be
// writing: to save, a window *takes* a file by renaming it, which only one can do, adds its own counts and usage, and renames
// it back. A window that finds nothing to take begins another file. It doesn't matter which file has what, because counts are
// merged and usage is added when they are read. A window that dies while it saves leaves a file that is still read, under the
// name that it has, though no longer written.

import type * as vscode from "vscode";

import type { Tokens } from "../../packages/loader/src/tokens.js";
import { Folder } from "./folder.js";
import type { Log } from "./log.js";
import { localized } from "./messages.js";

/** The normal name of a file, which it has unless a window is writing it. */
const FREE = /^memory(-[\w-]+)?$/;
/**
 * All its names, in the order in which they are tried. To replace the content of a taken file, `.tmp` is renamed over
 * it.
 */
const NAMES = ["", ".taken", ".tmp"];
/** How often all of them are tried. In between, another window may rename the file again. */
const MAX_ATTEMPTS = 10;

export class MemoryFiles {
  readonly #folder: Folder;

  constructor(
    folder: vscode.Uri,
    private readonly log: Log,
  ) {
    this.#folder = new Folder(folder);
  }

  /** Replaces the ledger's memory by the contents of the files. Usage that isn't saved yet stays. */
  load(tokens: Tokens): Promise<void> {
    return this.#folder.inTurn(async () => {
      tokens.openMemory(await this.#key());
      for (const name of new Set((await this.#folder.list()).map((name) => name.replace(/\.(taken|tmp)$/, "")))) {
        const bytes = FREE.test(name) ? await this.#readAny(name) : undefined;
        const [state, message] = bytes === undefined ? ["missing", null] : tokens.addMemory(bytes);
        if (message !== null) {
          this.log.warn(localized([{ code: message, args: [] }]));
        }
        if (state === "damaged") {
          await this.#folder.rename(name, `${name}.corrupt`);
        }
      }
    });
  }

  /** Adds what the ledger has not saved yet to one of the files. Returns whether it could. */
  save(tokens: Tokens): Promise<boolean> {
    return this.#folder.inTurn(async () => {
      try {
        for (const name of await this.#folder.list()) {
          // Another window may have the file, or a newer version of Sluice may have written it.
          if (FREE.test(name) && (await this.#folder.rename(name, `${name}.taken`)) && (await this.#write(tokens, name))) {
            return true;
          }
        }
        return await this.#write(tokens, `memory-${crypto.randomUUID()}`);
      } catch (error) {
        // It is tried again after the next answer. Everything is still in memory.
        this.log.failure("warn", "Token counts and usage could not be saved", error);
        return false;
      }
    });
  }

  /** Replaces the content of a file that this window has taken, and gives the file back. Returns false if it must be left alone. */
  async #write(tokens: Tokens, name: string): Promise<boolean> {
    try {
      const bytes = tokens.saveMemory(await this.#folder.read(`${name}.taken`));
      if (bytes === undefined) {
        return false;
      }
      await this.#folder.write(`${name}.taken`, bytes, `${name}.tmp`);
      tokens.memorySaved();
      return true;
    } finally {
      await this.#folder.rename(`${name}.taken`, name);
    }
  }

  /** Hashes made with this key mean nothing on another machine. */
  async #key(): Promise<Uint8Array> {
    const known = await this.#folder.read("key");
    if (known?.length === 16) {
      return known;
    }
    const key = crypto.getRandomValues(new Uint8Array(16));
    // Another window may be faster, or nothing can be written.
    await (known === undefined ? this.#folder.create("key", key) : this.#folder.write("key", key)).catch(() => undefined);
    return (await this.#folder.read("key")) ?? key;
  }

  /** Reads a file under any of its names, because another window may be renaming it. */
  async #readAny(name: string): Promise<Uint8Array | undefined> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      for (const suffix of NAMES) {
        const bytes = await this.#folder.read(name + suffix);
        if (bytes !== undefined) {
          return bytes;
        }
      }
    }
    return undefined;
  }
}
