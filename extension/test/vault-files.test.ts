// Windows that save at the same time, and one that deletes everything. What is left behind by windows that die is tested with the
// core (crates/sluice-core/tests/files.rs).

import assert from "node:assert/strict";
import { test } from "node:test";

import * as vscode from "vscode";
import type { Modules } from "../../packages/loader/src/modules.js";
import { loadRequests, type Requests } from "../../packages/loader/src/requests.js";
import { Log } from "../src/log.js";
import { VaultFiles } from "../src/vault-files.js";
import { modules } from "./harness.js";
import { fake } from "./vscode.js";

const wasm = new WebAssembly.Module(modules[1]![1] as Uint8Array<ArrayBuffer>);

/** A window, and a function that gives it a word to keep. */
async function window(): Promise<{ add(word: string): void; files: VaultFiles }> {
  const requests = await loadRequests(wasm);
  const log = new Log(vscode.window.createOutputChannel("Sluice", { log: true }));
  const files = new VaultFiles({ requests: async () => requests } as unknown as Modules, vscode.Uri.file("/storage"), log);
  const add = (word: string): void => {
    const replay = { model: "acme/m", origin: "https://acme.example", items: [{ reasoning: { encrypted_content: `<${word}>` } }] };
    const answer = [
      { type: "thinking", replay },
      { type: "text", value: word },
    ];
    assert(requests.remember(JSON.stringify({ isWhole: true, answer }), { text: 1, thread: 1 }));
  };
  return { add, files };
}

const names = (): string[] => [...fake.files.keys()].filter((path) => path.startsWith("/storage/vault/"));

/** Returns the words in all files. */
function words(): string[] {
  const texts = names().map((name) => new TextDecoder().decode(fake.files.get(name) as Uint8Array));
  return [...new Set(texts.join().match(/(?<=<)[\w-]+(?=>)/g))].sort();
}

test("the end of a turn is saved at once, and its rounds soon", async (context) => {
  fake.reset();
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { add, files } = await window();
  await files.open();
  add("round");
  files.changed(false);
  assert.deepEqual(names(), []);
  add("end");
  files.changed(true);
  // This only waits for a save that has begun.
  await files.dispose();
  assert.deepEqual(words(), ["end", "round"]);
});

test("windows that save at the same time lose nothing, and leave few files", async () => {
  fake.reset();
  const windows = await Promise.all(Array.from({ length: 6 }, window));
  await Promise.all(windows.map(({ files }) => files.open()));
  const all: string[] = [];
  for (let round = 0; round < 5; round++) {
    await Promise.all(
      windows.map(({ add, files }, number) => {
        all.push(`${round}-${number}`);
        add(`${round}-${number}`);
        return files.save();
      }),
    );
    assert.deepEqual(words(), all.toSorted());
    assert(names().length <= windows.length, names().join());
    assert(
      names().every((name) => name.endsWith(".json")),
      names().join(),
    );
  }
  await windows[0]!.files.save();
  assert.equal(names().length, 1);
});

test("what one window deletes is gone in the files, and other windows don't bring it back", async () => {
  fake.reset();
  const [one, other] = [await window(), await window()];
  one.add("secret");
  await one.files.save();
  await other.files.open();
  await new Promise((resolve) => setTimeout(resolve, 2));
  await one.files.clear();
  assert.deepEqual(words(), []);
  await other.files.save();
  assert.deepEqual(words(), []);
});

test("what cannot be saved stays in memory and is saved the next time", async (context) => {
  fake.reset();
  const { add, files } = await window();
  add("first");
  await files.save();
  const full = context.mock.method(vscode.workspace.fs, "writeFile", async () => Promise.reject(new Error("no space left")));
  add("second");
  await files.save();
  full.mock.restore();
  assert.deepEqual(words(), ["first"]);
  assert(fake.logged.some((line) => line.startsWith("warn: Reasoning that models need back could not be saved")));
  await files.save();
  assert.deepEqual(words(), ["first", "second"]);
  assert.equal(names().length, 1);
});

test("a module that failed to load is loaded again", async () => {
  fake.reset();
  const loaded = await loadRequests(wasm);
  let attempts = 0;
  const requests = async (): Promise<Requests> => (attempts++ === 0 ? Promise.reject(new Error("disk error")) : loaded);
  const log = new Log(vscode.window.createOutputChannel("Sluice", { log: true }));
  const files = new VaultFiles({ requests } as unknown as Modules, vscode.Uri.file("/storage"), log);
  await assert.rejects(files.open(), /disk error/);
  assert.equal(await files.open(), loaded);
});
