// What is known about every request: names, sizes, hashes and times, never text. All windows of this machine share the
// files.
//
// A window only ever writes files of its own, so no window can lose what another one has written. It begins a new file
// when one is full, and then deletes the oldest files of all windows.

import * as vscode from "vscode";

import type { RequestRecord } from "../../packages/loader/src/core.js";
import { makePrivate } from "./host-process.js";
import type { Log } from "./log.js";

/** There is at most one write in this time. */
const SAVE_AFTER_MS = 2_000;
/** The maximum number of records in a file, which is written as a whole. */
const MAX_RECORDS = 100;
/** The maximum size of all files, compressed. A thousand requests of an agent need about a megabyte. */
const MAX_BYTES = 8 << 20;
/** How many files are read when VS Code starts. */
const NEWEST = 3;
const MAX_AGE_MS = 30 * 86_400_000;
/** The first word of a name is the time when the file was begun. */
const NAME = /^(\d+)-[\w-]+\.gz$/;

export class RecordFiles {
  #name = "";
  #lines: string[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Writing and deleting never overlap. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly folder: vscode.Uri,
    private readonly log: Log,
  ) {}

  add(record: RequestRecord): void {
    if (this.#name === "" || this.#lines.length === MAX_RECORDS) {
      this.#write();
      this.#name = `${Date.now()}-${crypto.randomUUID()}.gz`;
      this.#lines = [];
      this.#inTurn(() => this.#deleteOld());
    }
    this.#lines.push(JSON.stringify(record));
    this.#timer ??= setTimeout(() => this.#write(), SAVE_AFTER_MS);
  }

  /** Passes on the records of the newest files, each as JSON. */
  async readNewest(use: (record: string) => void): Promise<void> {
    const each = (lines: Uint8Array): void => new TextDecoder().decode(lines).split("\n").forEach(use);
    await this.#read((await this.#list()).slice(-NEWEST), each);
  }

  /** Passes on the contents of all files, one after the other: records as JSON, one on each line. */
  async read(use: (lines: Uint8Array) => void): Promise<void> {
    await this.dispose();
    await this.#read(await this.#list(), use);
  }

  async #read(files: readonly [name: string, begun: number][], use: (lines: Uint8Array) => void): Promise<void> {
    for (const [name] of files) {
      const lines = await Promise.resolve(vscode.workspace.fs.readFile(this.#file(name)))
        .then((bytes) => piped(bytes, new DecompressionStream("gzip")))
        // Another window may be writing it, or have deleted it.
        .catch(() => undefined);
      if (lines !== undefined) {
        use(lines);
      }
    }
  }

  /** Called before VS Code closes. */
  async dispose(): Promise<void> {
    if (this.#timer !== undefined) {
      this.#write();
    }
    await this.#turn;
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const [name, lines] = [this.#name, this.#lines.join("\n")];
    if (lines !== "") {
      this.#inTurn(async () => {
        await vscode.workspace.fs.createDirectory(this.folder);
        makePrivate(this.folder);
        const bytes = await piped(new TextEncoder().encode(lines), new CompressionStream("gzip"));
        await vscode.workspace.fs.writeFile(this.#file(`${name}.tmp`), bytes);
        await vscode.workspace.fs.rename(this.#file(`${name}.tmp`), this.#file(name), { overwrite: true });
      });
    }
  }

  async #deleteOld(): Promise<void> {
    let left = MAX_BYTES;
    for (const [name, begun] of (await this.#list()).reverse()) {
      left -= (await vscode.workspace.fs.stat(this.#file(name))).size;
      if (left < 0 || begun < Date.now() - MAX_AGE_MS) {
        await vscode.workspace.fs.delete(this.#file(name));
      }
    }
  }

  /** Returns the files and when they were begun, the oldest first. */
  async #list(): Promise<[name: string, begun: number][]> {
    const entries = await vscode.workspace.fs.readDirectory(this.folder).then(undefined, () => []);
    const files = entries.flatMap(([name]): [string, number][] => (NAME.test(name) ? [[name, Number.parseInt(name, 10)]] : []));
    return files.sort(([, a], [, b]) => a - b);
  }

  #inTurn(work: () => Promise<void>): void {
    this.#turn = this.#turn.then(work).catch((error: unknown) => this.log.failure("warn", "Records of requests could not be saved", error));
  }

  #file(name: string): vscode.Uri {
    return vscode.Uri.joinPath(this.folder, name);
  }
}

async function piped(bytes: Uint8Array, through: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  const stream = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(through);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
