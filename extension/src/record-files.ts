// What is known about every request: names, sizes, hashes and times, never text. All windows of this machine share the
// files.
//
// A window only ever writes files of its own, so no window can lose what another one has written. It begins a new file
// when one is full, and then deletes the oldest files of all windows.

import type * as vscode from "vscode";

import type { RequestRecord } from "../../packages/loader/src/core.js";
import { Folder } from "./folder.js";
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
const NAME = /^\d+-[\w-]+\.gz$/;

export class RecordFiles {
  readonly #folder: Folder;
  #name = "";
  #lines: string[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #written: Promise<void> = Promise.resolve();

  constructor(
    folder: vscode.Uri,
    private readonly log: Log,
  ) {
    this.#folder = new Folder(folder, true);
  }

  add(record: RequestRecord): void {
    if (this.#name === "" || this.#lines.length === MAX_RECORDS) {
      this.#write();
      this.#name = `${Date.now()}-${crypto.randomUUID()}.gz`;
      this.#lines = [];
      this.#inTurn(async () => {
        const isTooOld = (_: unknown, name: string): boolean => begun(name) < Date.now() - MAX_AGE_MS;
        await this.#folder.prune((await this.#list()).reverse(), MAX_BYTES, isTooOld);
      });
    }
    this.#lines.push(JSON.stringify(record));
    this.#timer ??= setTimeout(() => this.#write(), SAVE_AFTER_MS);
  }

  /** Passes on the records of the newest files, each as JSON. */
  async readNewest(use: (record: string) => void): Promise<void> {
    const each = (lines: Uint8Array): void => new TextDecoder().decode(lines).split("\n").forEach(use);
    await this.#read((await this.#list()).slice(-NEWEST), each);
  }

  /** Passes on all records of a conversation, each as JSON. */
  async readConversation(conversation: string, use: (record: string) => void): Promise<void> {
    const name = `"conversation":${JSON.stringify(conversation)}`;
    const isPart = (line: string): boolean => line.includes(name);
    await this.read((lines) => new TextDecoder().decode(lines).split("\n").filter(isPart).forEach(use));
  }

  /** Passes on the contents of all files, one after the other: records as JSON, one on each line. */
  async read(use: (lines: Uint8Array) => void): Promise<void> {
    await this.dispose();
    await this.#read(await this.#list(), use);
  }

  async #read(names: readonly string[], use: (lines: Uint8Array) => void): Promise<void> {
    for (const name of names) {
      // Another window may be writing it, or have deleted it.
      const bytes = await this.#folder.read(name);
      const lines = bytes && (await piped(bytes, new DecompressionStream("gzip")).catch(() => undefined));
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
    await this.#written;
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const [name, lines] = [this.#name, this.#lines.join("\n")];
    if (lines !== "") {
      this.#inTurn(async () => {
        await this.#folder.write(name, await piped(new TextEncoder().encode(lines), new CompressionStream("gzip")));
      });
    }
  }

  /** Returns the names of the files, the oldest first. */
  async #list(): Promise<string[]> {
    return (await this.#folder.list()).filter((name) => NAME.test(name)).sort((a, b) => begun(a) - begun(b));
  }

  #inTurn(work: () => Promise<void>): void {
    const failed = (error: unknown): void => this.log.failure("warn", "Records of requests could not be saved", error);
    this.#written = this.#folder.inTurn(work).catch(failed);
  }
}

/** Returns when a file was begun. */
function begun(name: string): number {
  return Number.parseInt(name, 10);
}

async function piped(bytes: Uint8Array, through: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  const stream = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(through);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
