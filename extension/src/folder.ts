// A folder with files of the extension. No reader ever sees half of a file: it is written under another name and then renamed.

import * as vscode from "vscode";

import { makePrivate } from "./host-process.js";

const { fs } = vscode.workspace;

export class Folder {
  #turn: Promise<unknown> = Promise.resolve();

  /** A private folder is accessible to its owner only. */
  constructor(
    readonly uri: vscode.Uri,
    private readonly isPrivate = false,
  ) {}

  /** Returns the names of all files, sorted. */
  async list(): Promise<string[]> {
    const entries = await fs.readDirectory(this.uri).then(undefined, () => []);
    return entries.map(([name]) => name).sort();
  }

  /** Returns undefined if the file can't be read. */
  async read(name: string): Promise<Uint8Array | undefined> {
    return fs.readFile(this.#file(name)).then(undefined, () => undefined);
  }

  async readText(name: string): Promise<string | undefined> {
    const bytes = await this.read(name);
    return bytes && new TextDecoder().decode(bytes);
  }

  /** Returns undefined if there is no such file. */
  async stat(name: string): Promise<vscode.FileStat | undefined> {
    return fs.stat(this.#file(name)).then(undefined, () => undefined);
  }

  /** Creates or replaces a file. */
  async write(name: string, content: Uint8Array | string, temporary = `${name}.${crypto.randomUUID()}.tmp`): Promise<void> {
    if (this.isPrivate) {
      await fs.createDirectory(this.uri);
      makePrivate(this.uri);
    }
    await fs.writeFile(this.#file(temporary), typeof content === "string" ? new TextEncoder().encode(content) : content);
    await fs.rename(this.#file(temporary), this.#file(name), { overwrite: true });
  }

  /** Creates a file, unless there is one. */
  async create(name: string, content: Uint8Array): Promise<void> {
    const temporary = `${name}.${crypto.randomUUID()}`;
    await this.write(temporary, content);
    if (!(await this.rename(temporary, name))) {
      await this.delete(temporary);
    }
  }

  /** Returns whether the file was renamed. It isn't if there is no such file, or if the new name is taken. */
  async rename(from: string, to: string): Promise<boolean> {
    return fs.rename(this.#file(from), this.#file(to), { overwrite: false }).then(
      () => true,
      () => false,
    );
  }

  /** Deletes a file, if there is one. */
  async delete(name: string): Promise<void> {
    await fs.delete(this.#file(name)).then(undefined, () => undefined);
  }

  /** Deletes the folder with everything in it. */
  async deleteAll(): Promise<void> {
    await fs.delete(this.uri, { recursive: true }).then(undefined, () => undefined);
  }

  /** Keeps the first files of a list that together aren't larger than `maxBytes`, unless they are too old. Deletes the others. */
  async prune(newestFirst: readonly string[], maxBytes: number, isTooOld: (file: vscode.FileStat, name: string) => boolean): Promise<void> {
    let left = maxBytes;
    for (const name of newestFirst) {
      const file = await this.stat(name);
      left -= file?.size ?? 0;
      if (file !== undefined && (left < 0 || isTooOld(file, name))) {
        await this.delete(name);
      }
    }
  }

  /** Runs work that must not overlap with other work on these files, after that which was passed before. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  #file(name: string): vscode.Uri {
    return vscode.Uri.joinPath(this.uri, name);
  }
}
