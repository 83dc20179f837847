// Windows that save at the same time, windows that die while they save, and one that deletes everything.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as vscode from "vscode";
import type { Modules } from "../../packages/loader/src/modules.js";
import { Log } from "../src/log.js";
import { VaultFiles } from "../src/vault-files.js";
import { fake } from "./vscode.js";

/** A vault that is a set of words, and a number that tells how often everything was deleted. */
class Words {
  words = new Set<string>();
  deleted = 0;

  openVault(file: string): void {
    const [deleted, ...words] = file.split(" ");
    if (Number(deleted) > this.deleted) {
      this.words.clear();
      this.deleted = Number(deleted);
    }
    words.filter(() => Number(deleted) === this.deleted).forEach((word) => this.words.add(word));
  }

  saveVault(): string {
    return [this.deleted, ...this.words].join(" ");
  }

  clearVault(): void {
    this.words.clear();
    this.deleted++;
  }
}

function window(): { vault: Words; files: VaultFiles } {
  const vault = new Words();
  const modules = { requests: async () => vault } as unknown as Modules;
  const log = new Log(vscode.window.createOutputChannel("Sluice", { log: true }));
  return { vault, files: new VaultFiles(modules, vscode.Uri.file("/storage/vault"), log) };
}

async function words(): Promise<string[]> {
  const { vault, files } = window();
  await files.open();
  return [...vault.words].sort();
}

const names = (): string[] => [...fake.files.keys()].filter((path) => path.startsWith("/storage/vault/"));

test("the end of a turn is saved at once, and its rounds soon", async (context) => {
  fake.reset();
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { vault, files } = window();
  await files.open();
  vault.words.add("round");
  files.changed(false);
  assert.deepEqual(names(), []);
  vault.words.add("end");
  files.changed(true);
  // This only waits for a save that has begun.
  await files.dispose();
  assert.deepEqual(await words(), ["end", "round"]);
});

test("windows that save at the same time lose nothing, and leave few files", async () => {
  fake.reset();
  const windows = Array.from({ length: 6 }, window);
  await Promise.all(windows.map(({ files }) => files.open()));
  const all: string[] = [];
  for (let round = 0; round < 5; round++) {
    await Promise.all(
      windows.map(({ vault, files }, number) => {
        all.push(`${round}-${number}`);
        vault.words.add(`${round}-${number}`);
        return files.save();
      }),
    );
    assert.deepEqual(await words(), all.toSorted());
    assert(names().length <= windows.length, names().join());
    assert(
      names().every((name) => name.endsWith(".json")),
      names().join(),
    );
  }
  await windows[0]!.files.save();
  assert.equal(names().length, 1);
});

test("whatever a window that died left behind is read, and later replaced", async () => {
  fake.reset();
  const left = { "a.taken": "0 taken", "b.json": "0 whole", "c.tmp": "0 unfinished" };
  Object.entries(left).forEach(([name, text]) => fake.files.set(`/storage/vault/${name}`, new TextEncoder().encode(text)));
  assert.deepEqual(await words(), ["taken", "unfinished", "whole"]);
  const { files } = window();
  fake.modified.set("/storage/vault/c.tmp", Date.now());
  await files.save();
  assert.equal(names().length, 2, "another window may still be writing c.tmp");
  fake.modified.set("/storage/vault/c.tmp", Date.now() - 7_200_000);
  await files.save();
  assert.equal(names().length, 1);
  assert.deepEqual(await words(), ["taken", "unfinished", "whole"]);
});

test("what one window deletes is gone in the files and, after their next save, in all other windows", async () => {
  fake.reset();
  const [one, other] = [window(), window()];
  one.vault.words.add("secret");
  await one.files.save();
  await other.files.open();
  await one.files.clear();
  assert.deepEqual(await words(), []);
  assert.doesNotMatch(
    names()
      .map((name) => new TextDecoder().decode(fake.files.get(name) as Uint8Array))
      .join(),
    /secret/,
  );
  await other.files.save();
  assert.deepEqual([await words(), [...other.vault.words]], [[], []]);
});

test("what cannot be saved stays in memory and is saved the next time", async (context) => {
  fake.reset();
  const { vault, files } = window();
  vault.words.add("first");
  await files.save();
  const full = context.mock.method(vscode.workspace.fs, "writeFile", async () => Promise.reject(new Error("no space left")));
  vault.words.add("second");
  await files.save();
  full.mock.restore();
  assert.deepEqual(await words(), ["first"]);
  assert(fake.logged.some((line) => line.startsWith("warn: Reasoning that models need back could not be saved")));
  await files.save();
  assert.deepEqual(await words(), ["first", "second"]);
  assert.equal(names().length, 1);
});

test("a module that failed to load is loaded again", async () => {
  fake.reset();
  const vault = new Words();
  let attempts = 0;
  const requests = async (): Promise<Words> => (attempts++ === 0 ? Promise.reject(new Error("disk error")) : vault);
  const log = new Log(vscode.window.createOutputChannel("Sluice", { log: true }));
  const files = new VaultFiles({ requests } as unknown as Modules, vscode.Uri.file("/storage/vault"), log);
  await assert.rejects(files.open(), /disk error/);
  assert.equal(await files.open(), vault);
});

test("files of a newer version are neither read nor deleted", async () => {
  fake.reset();
  const { vault, files } = window();
  const other = vscode.Uri.file("/storage/vault/0b0e3c1e-0000-4000-8000-000000000000.v2.json");
  await vscode.workspace.fs.writeFile(other, new TextEncoder().encode("0 newer"));
  await files.open();
  vault.words.add("ours");
  await files.save();
  assert.deepEqual(await words(), ["ours"]);
  assert(names().includes(other.path));
});
