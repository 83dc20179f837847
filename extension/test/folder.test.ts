// The files that all windows share, with the real modules. In which order they are used is tested with the core
// (crates/sluice-core/tests/files.rs).

import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

import * as vscode from "vscode";

import { records } from "../../e2e/lib/records.mjs";
import type { TreeRow } from "../../packages/loader/src/core.js";
import { loadTokens, type Tokens } from "../../packages/loader/src/tokens.js";
import { Folder } from "../src/folder.js";
import { modules } from "./harness.js";
import { fake } from "./vscode.js";

const wasm = new WebAssembly.Module(modules[3]![1] as Uint8Array<ArrayBuffer>);

interface Window {
  readonly tokens: Tokens;
  readonly folder: Folder;
  readonly problems: unknown[];
}

async function open(): Promise<Window> {
  const problems: unknown[] = [];
  const folder = new Folder(vscode.Uri.file("/storage"), (error) => problems.push(error));
  const tokens = await loadTokens(wasm);
  await folder.inTurn(() => tokens.work("load", folder));
  return { tokens, folder, problems };
}

function request({ tokens }: Window): void {
  const id = crypto.randomUUID();
  tokens.begin(id, "talk", new TextEncoder().encode(JSON.stringify({ model: "acme/m", messages: [] })), { origin: "acme" }, Date.now());
  tokens.end(id, JSON.stringify({ isAnswered: true }), Date.now());
}

const save = ({ tokens, folder }: Window): Promise<void> => folder.inTurn(() => tokens.work("save", folder));

/** Returns how many requests a new window knows of, and how many the inspector shows. */
async function known(): Promise<[used: number, shown: number]> {
  const { tokens, folder } = await open();
  const inspected = tokens.records();
  await inspected.read(folder);
  const shown = inspected.ask<TreeRow[]>({ tree: {} }).filter(({ request }) => request !== null).length;
  return [tokens.history("day").reduce((sum, { totals }) => sum + totals.requests, 0), shown];
}

const names = (): string[] => [...fake.files.keys()].sort();

test("windows that save at the same time lose nothing", async () => {
  fake.reset();
  const windows = await Promise.all(Array.from({ length: 6 }, open));
  for (let round = 1; round <= 3; round++) {
    windows.forEach(request);
    await Promise.all(windows.map(save));
    assert.deepEqual(await known(), [round * windows.length, round * windows.length]);
  }
  assert.deepEqual(
    names().filter((name) => /\.(taken|tmp)/.test(name)),
    [],
  );
  assert.deepEqual(
    windows.flatMap(({ problems }) => problems),
    [],
  );
});

test("what cannot be saved is reported, and saved the next time", async (context) => {
  fake.reset();
  const window = await open();
  request(window);
  await save(window);
  const full = context.mock.method(vscode.workspace.fs, "writeFile", async () => Promise.reject(new Error("no space left")));
  request(window);
  await save(window);
  assert.equal(window.problems.splice(0).length, 1);
  full.mock.restore();
  assert.deepEqual(await known(), [1, 1]);
  await save(window);
  assert.deepEqual([await known(), window.problems], [[2, 2], []]);
});

test("a damaged file does not hide the others", async () => {
  fake.reset();
  const [record] = records(1, Date.now());
  fake.files.set(`/storage/records/${Date.now()}-damaged.gz`, new Uint8Array([31, 139, 8, 0, 1]));
  fake.files.set(`/storage/records/${Date.now()}-text.gz`, new TextEncoder().encode("text"));
  fake.files.set(`/storage/records/${Date.now()}-good.gz`, gzipSync(JSON.stringify(record)));
  assert.deepEqual(await known(), [0, 1]);
});

test("the file of an earlier version is continued", async () => {
  fake.reset();
  const window = await open();
  request(window);
  await save(window);
  const [name] = names().filter((path) => path.startsWith("/storage/memory-"));
  fake.files.set("/storage/memory", fake.files.get(name!)!);
  fake.files.delete(name!);
  request(window);
  await save(window);
  assert.deepEqual(
    names().filter((path) => path.startsWith("/storage/memory")),
    ["/storage/memory"],
  );
  assert.deepEqual(await known(), [2, 2]);
});
