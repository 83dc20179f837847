// Records of requests survive, whatever several windows do, and stay within their bounds.

import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import * as vscode from "vscode";

import { records } from "../../e2e/lib/records.mjs";
import type { RequestRecord } from "../../packages/loader/src/core.js";
import type { Log } from "../src/log.js";
import { RecordFiles } from "../src/record-files.js";
import { fake } from "./vscode.js";

const NOW = Date.now();
const RECORDS = records(1_000, NOW) as unknown as RequestRecord[];
const problems: unknown[] = [];
const log = { failure: (...problem: unknown[]) => problems.push(problem) } as unknown as Log;
const files = (): RecordFiles => new RecordFiles(vscode.Uri.file("/storage/records"), log);
const names = (): string[] => [...fake.files.keys()].sort();

/** Returns the ids of all records that a new window finds. */
async function found(): Promise<string[]> {
  const ids: string[] = [];
  const read = (line: string): number => ids.push((JSON.parse(line) as RequestRecord).id);
  await files().read((lines) => new TextDecoder().decode(lines).split("\n").forEach(read));
  return ids.sort();
}

const ids = (some: readonly RequestRecord[]): string[] => some.map(({ id }) => id).sort();

test("two windows that write at the same time lose nothing", async () => {
  fake.reset();
  const windows = [files(), files()];
  RECORDS.forEach((record, index) => windows[index % 2]!.add(record));
  await Promise.all(windows.map((window) => window.dispose()));
  assert.deepEqual(await found(), ids(RECORDS));
  assert.deepEqual([names().length, problems], [10, []]);
  const bytes = [...fake.files.values()].reduce((sum, file) => sum + (file as Uint8Array).length, 0);
  assert(bytes < 2 << 20, `a thousand records have ${bytes} bytes`);
});

test("a window continues after another one deleted its file", async () => {
  fake.reset();
  const window = files();
  window.add(RECORDS[0]!);
  await window.dispose();
  fake.files.clear();
  window.add(RECORDS[1]!);
  await window.dispose();
  assert.deepEqual(await found(), ids(RECORDS.slice(0, 2)));
});

test("old files are deleted, and those beyond the maximum size", async () => {
  fake.reset();
  const begun = (days: number, size: number): void =>
    void fake.files.set(`/storage/records/${NOW - days * 86_400_000}-x.gz`, new Uint8Array(size));
  begun(31, 10);
  begun(5, 4 << 20);
  begun(3, 3 << 20);
  begun(1, 3 << 20);
  fake.files.set("/storage/records/something else", new Uint8Array(1));
  const window = files();
  window.add(RECORDS[0]!);
  await window.dispose();
  const left = names().map((name) => name.replace("/storage/records/", "").replace(/-[\w-]{36}/, "-new"));
  const kept = [3, 1].map((days) => `${NOW - days * 86_400_000}-x.gz`);
  assert.deepEqual(
    left.filter((name) => !name.includes("-new")),
    [...kept, "something else"],
  );
  assert.equal(left.length, 4);
});

test("a damaged file does not hide the others", async () => {
  fake.reset();
  fake.files.set(`/storage/records/${NOW}-damaged.gz`, new Uint8Array([31, 139, 8, 0, 1]));
  fake.files.set(`/storage/records/${NOW}-text.gz`, new TextEncoder().encode("text"));
  fake.files.set(`/storage/records/${NOW}-good.gz`, gzipSync(JSON.stringify(RECORDS[5])));
  assert.deepEqual(await found(), [RECORDS[5]!.id]);
});

test("what cannot be written is written the next time", async (context) => {
  fake.reset();
  const full = context.mock.method(vscode.workspace.fs, "writeFile", async () => Promise.reject(new Error("no space left")));
  const window = files();
  window.add(RECORDS[0]!);
  await window.dispose();
  full.mock.restore();
  assert.equal(problems.splice(0).length, 1);
  window.add(RECORDS[1]!);
  await window.dispose();
  assert.deepEqual(await found(), ids(RECORDS.slice(0, 2)));
  const [file] = fake.files.values();
  assert.equal(
    gunzipSync(file as Uint8Array)
      .toString()
      .split("\n").length,
    2,
  );
});
