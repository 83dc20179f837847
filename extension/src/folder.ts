// A folder with files of the extension. What is done with files that several windows share is decided by the core.

import * as vscode from "vscode";

import type { FileEntry, WorkResult, WorkStep } from "../../packages/loader/src/boundary.js";
import type { Shell } from "../../packages/loader/src/work.js";
import { makePrivate } from "./host-process.js";

const { fs } = vscode.workspace;

export class Folder implements Shell {
  #turn: Promise<unknown> = Promise.resolve();
  #problem: unknown;

  /** `onProblem` is called after work during which something could not be written. */
  constructor(
    readonly uri: vscode.Uri,
    private readonly onProblem: (error: unknown) => void = () => undefined,
  ) {}

  /** Does something with these files after everything that was passed before is done. */
  inTurn<T>(work: (folder: Folder) => Promise<T>): Promise<T> {
    const result = this.#turn.then(async () => {
      this.#problem = undefined;
      const done = await work(this);
      if (this.#problem !== undefined) {
        this.onProblem(this.#problem);
      }
      return done;
    });
    this.#turn = result.catch(() => undefined);
    return result;
  }

  async perform(step: WorkStep, content: Uint8Array): Promise<WorkResult | Uint8Array> {
    switch (step.type) {
      case "list":
        return { listed: await this.#list(step.folder, step.withDetails) };
      case "read":
        for (const name of step.names) {
          const read = await this.#read(name);
          if (read !== undefined) {
            return read;
          }
        }
        return "missing";
      case "write":
        return this.#done(this.#write(step.name, content), true);
      case "rename":
        return this.#done(fs.rename(this.#file(step.from), this.#file(step.to), { overwrite: step.mayReplace }), step.mayReplace);
      case "delete":
        return this.#done(fs.delete(this.#file(step.name), { recursive: true }), false);
      default:
        return { done: false };
    }
  }

  /** Returns undefined if the file can't be read. */
  async #read(name: string): Promise<Uint8Array | undefined> {
    try {
      const bytes = await fs.readFile(this.#file(name));
      return name.endsWith(".gz") ? await piped(bytes, new DecompressionStream("gzip")) : bytes;
    } catch {
      return undefined;
    }
  }

  /** Subfolders are accessible to their owner only. */
  async #write(name: string, content: Uint8Array): Promise<void> {
    if (name.includes("/")) {
      const folder = this.#file(name.slice(0, name.lastIndexOf("/")));
      await fs.createDirectory(folder);
      makePrivate(folder);
    }
    await fs.writeFile(this.#file(name), name.endsWith(".gz") ? await piped(content, new CompressionStream("gzip")) : content);
  }

  async #list(folder: string, withDetails: boolean): Promise<FileEntry[]> {
    const entries = await fs.readDirectory(this.#file(folder)).then(undefined, () => []);
    const details = async ([name]: [string, unknown]): Promise<FileEntry> => {
      const file = withDetails ? await fs.stat(this.#file(`${folder}/${name}`)).then(undefined, () => undefined) : undefined;
      return { name, size: file?.size ?? 0, modifiedMs: file?.mtime ?? 0 };
    };
    return Promise.all(entries.map(details));
  }

  async #done(work: PromiseLike<void>, isNecessary: boolean): Promise<WorkResult> {
    try {
      await work;
      return { done: true };
    } catch (error) {
      this.#problem = isNecessary ? error : this.#problem;
      return { done: false };
    }
  }

  #file(name: string): vscode.Uri {
    return name === "" ? this.uri : vscode.Uri.joinPath(this.uri, name);
  }
}

/** There is at most one write in this time, unless it is urgent. */
const SAVE_AFTER_MS = 2_000;

/** Decides when something that changes often is saved. */
export class Saver {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #saved: Promise<void> = Promise.resolve();

  constructor(private readonly save: () => Promise<void>) {}

  /** It has changed. */
  soon(): void {
    this.#timer ??= setTimeout(() => void this.now(), SAVE_AFTER_MS);
  }

  now(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return (this.#saved = this.save());
  }

  /** Resolves when every change is saved. */
  async settled(): Promise<void> {
    await (this.#timer === undefined ? this.#saved : this.now());
  }
}

async function piped(bytes: Uint8Array, through: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  const stream = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(through);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
