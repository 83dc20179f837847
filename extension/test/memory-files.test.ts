// Windows that save at the same time, and windows that die while they save: nothing is lost, and nothing is counted twice.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as vscode from "vscode";

import type { Tokens } from "../../packages/loader/src/tokens.js";
import { Log } from "../src/log.js";
import { MemoryFiles } from "../src/memory-files.js";
import { fake } from "./vscode.js";

/** A ledger that remembers only how many requests there were. A file has one byte for each. */
class Ledger {
  saved = 0;
  unsaved = 0;
  #writing = 0;

  get total(): number {
    return this.saved + this.unsaved;
  }

  openMemory(): void {
    this.saved = 0;
    this.unsaved = 0;
  }

  addMemory(file: Uint8Array): ReturnType<Tokens["addMemory"]> {
    this.saved += file.length;
    return file[0] === 9 ? ["newer", "memoryNewer"] : ["good", null];
  }

  saveMemory(file: Uint8Array | undefined): Uint8Array | undefined {
    this.#writing = (file?.length ?? 0) + this.unsaved;
    return file?.[0] === 9 ? undefined : new Uint8Array(this.#writing);
  }

  memorySaved(): void {
    this.saved = this.#writing;
    this.unsaved = 0;
  }
}

function window(): { ledger: Ledger; files: MemoryFiles; tokens: Tokens } {
  const ledger = new Ledger();
  const log = new Log(vscode.window.createOutputChannel("Sluice", { log: true }));
  return { ledger, files: new MemoryFiles(vscode.Uri.file("/storage"), log), tokens: ledger as unknown as Tokens };
}

async function total(): Promise<number> {
  const { ledger, files, tokens } = window();
  await files.load(tokens);
  return ledger.total;
}

const names = (): string[] => [...fake.files.keys()].filter((path) => path.startsWith("/storage/memory")).sort();

test("windows that save at the same time lose nothing", async () => {
  fake.reset();
  const windows = Array.from({ length: 8 }, window);
  await Promise.all(windows.map(({ files, tokens }) => files.load(tokens)));
  for (let round = 1; round <= 5; round++) {
    await Promise.all(
      windows.map(({ ledger, files, tokens }) => {
        ledger.unsaved++;
        return files.save(tokens);
      }),
    );
    assert.equal(await total(), round * windows.length);
  }
  assert(names().length <= windows.length, `${names().length} files`);
  assert.deepEqual(
    names().filter((name) => /\.(taken|tmp)$/.test(name)),
    [],
  );
});

test("the file of an earlier version is used, and one of a newer version is not changed", async () => {
  fake.reset();
  fake.files.set("/storage/memory", new Uint8Array(3));
  const { ledger, files, tokens } = window();
  await files.load(tokens);
  ledger.unsaved++;
  await files.save(tokens);
  assert.deepEqual([names(), await total()], [["/storage/memory"], 4]);
  fake.files.set("/storage/memory", new Uint8Array([9, 0]));
  ledger.unsaved++;
  await files.save(tokens);
  assert.equal(names().length, 2);
  assert.deepEqual(fake.files.get("/storage/memory"), new Uint8Array([9, 0]));
});

test("whatever a window that died left behind is read once", async () => {
  for (const left of [["memory.taken"], ["memory.taken", "memory.tmp"], ["memory.tmp"], ["memory", "memory.tmp"]]) {
    fake.reset();
    left.forEach((name) => fake.files.set(`/storage/${name}`, new Uint8Array(3)));
    assert.equal(await total(), 3, left.join());
    const { ledger, files, tokens } = window();
    await files.load(tokens);
    ledger.unsaved++;
    assert(await files.save(tokens));
    assert.equal(await total(), 4, left.join());
  }
});

test("what cannot be saved is kept for the next time", async (context) => {
  fake.reset();
  const { ledger, files, tokens } = window();
  await files.load(tokens);
  ledger.unsaved++;
  await files.save(tokens);
  const full = context.mock.method(vscode.workspace.fs, "writeFile", async () => Promise.reject(new Error("no space left")));
  ledger.unsaved++;
  assert.equal(await files.save(tokens), false);
  full.mock.restore();
  assert.equal(names().length, 1);
  assert(await files.save(tokens));
  assert.equal(await total(), 2);
});
