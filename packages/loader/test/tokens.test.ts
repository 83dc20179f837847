// What must hold for the token counter's boundary. The counts themselves are tested in Rust.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { CoreError, QuestionError } from "../src/core.js";
import { loadTokens, type Tokens } from "../src/tokens.js";
import type { Shell } from "../src/work.js";
import { fromEnvironment, wasmBytes } from "./support.js";

const tokensBytes = new Uint8Array(readFileSync(fromEnvironment("SLUICE_TOKENS_WASM")));
const tokens: Tokens = await loadTokens(tokensBytes);
const encoded = (value: object): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

test("the module imports nothing, and the core has no vocabulary in it", () => {
  assert.deepEqual(WebAssembly.Module.imports(new WebAssembly.Module(tokensBytes)), []);
  assert.ok(tokensBytes.length > 1_500_000);
  assert.ok(wasmBytes.length < 1_000_000);
});

test("text of all kinds is counted repeatedly", () => {
  const cases: [string, number][] = [
    ["", 0],
    ["hello world", 2],
    ["<|endoftext|><|im_start|>", 12],
    ["こんにちは世界", 2],
    ["Привет, мир!", 5],
    ["\ud800 half a pair", tokens.countText("gpt-5", "", "\ufffd half a pair")],
    ["x".repeat(49), tokens.countText("gpt-5", "", `${"x".repeat(24)}${"x".repeat(25)}`)],
  ];
  for (let round = 0; round < 3; round++) {
    for (const [text, count] of cases) {
      assert.equal(tokens.countText("openai/gpt-5", "", text), count, JSON.stringify(text));
    }
  }
  assert.equal(tokens.countText("gpt-4", "", "こんにちは世界"), 4);
  assert.equal(tokens.countText("gpt-5", "", "こんにちは世界"), 2);
});

test("small texts are counted after a large one has grown the memory", () => {
  const large = "The quick brown fox. ".repeat(500_000);
  assert.equal(tokens.countText("gpt-5", "", large), 2_500_001);
  assert.equal(tokens.countText("gpt-5", "", "hello world"), 2);
});

test("more texts than the cache holds are counted", () => {
  for (let at = 0; at < 50_000; at++) {
    assert.ok(tokens.countText("gpt-5", "", `text ${at}`) >= 2);
  }
  assert.equal(tokens.countText("gpt-5", "", "text 7"), 3);
});

test("messages, with half a character too", () => {
  const message = (value: string) => ({ role: "user" as const, content: [{ type: "text" as const, value }] });
  assert.equal(tokens.countMessage("gpt-5", "", message("hello \ud800 world")), tokens.countText("gpt-5", "", "hello \ufffd world") + 4);
  assert.throws(() => tokens.countMessage("gpt-5", "", { role: "nobody" } as never), QuestionError);
  assert.equal(tokens.countText("gpt-5", "", "still here"), 2);
});

test("counts are corrected by what servers counted, for models of the same server only", async () => {
  const own = await loadTokens(tokensBytes);
  const text = "The quick brown fox. ".repeat(400);
  const before = own.countText("acme/m", "acme", text);
  for (let at = 0; at < 20; at++) {
    // If all requests had the same size, a factor couldn't be distinguished from a prompt that the server adds.
    const value = `${at} ${text.repeat(1 + (at % 5))}`;
    const chat = encoded({ model: "acme/m", messages: [{ role: "user", content: [{ type: "text", value }] }] });
    const { estimate } = own.begin(`${at}`, "c", chat, { origin: "acme" }, at);
    const input_tokens = Math.round(estimate.tokens * 1.2);
    const usage = { input_tokens, output_tokens: 1, total_tokens: input_tokens + 1 };
    assert.equal(own.end(`${at}`, JSON.stringify({ isAnswered: true, usage }), at)?.used.outputTokens, 1);
  }
  assert.ok(own.countText("acme/m", "acme", text) > before, "the cache does not hide the correction");
  assert.equal(own.countText("acme/m", "other", text), before);
  assert.equal(own.end("unknown", undefined, 0), null);
  assert.equal(own.history("day")[0]?.totals.requests, 20);
});

/** A folder in memory. */
function folderOf(files: Map<string, Uint8Array>): Shell {
  const perform: Shell["perform"] = async (step, content) => {
    switch (step.type) {
      case "list":
        return { listed: [...files.keys()].map((name) => ({ name, size: 0, modifiedMs: 0 })) };
      case "read":
        return step.names.map((name) => files.get(name)).find((file) => file !== undefined) ?? "missing";
      case "write":
        files.set(step.name, content);
        break;
      case "rename":
        files.set(step.to, files.get(step.from)!);
        files.delete(step.from);
    }
    return { done: true };
  };
  return { perform };
}

test("memory goes into files and comes back, whatever is in which", async () => {
  const used = async (): Promise<Uint8Array> => {
    const own = await loadTokens(tokensBytes);
    own.begin("1", "c", encoded({ model: "acme/m", messages: [] }), { origin: "acme" }, 0);
    own.end("1", JSON.stringify({ isAnswered: true }), 1);
    const files = new Map<string, Uint8Array>();
    await own.work("save", folderOf(files));
    return [...files].find(([name]) => name.startsWith("memory-"))![1];
  };
  const files = new Map([
    ["memory", await used()],
    ["memory-b", await used()],
    ["memory-c", new Uint8Array(40)],
  ]);
  const own = await loadTokens(tokensBytes);
  assert.deepEqual(await own.work("load", folderOf(files)), ["memoryDamaged"]);
  assert.equal(own.history("month")[0]?.totals.requests, 2);
  assert(files.has("memory-c.corrupt"));
});

test("a trap becomes a named error, and the next count uses a new instance", async () => {
  // A module whose functions all trap.
  const trap = await loadTokens(trappingModule());
  assert.throws(() => trap.countText("gpt-5", "", "x"), CoreError);
  assert.throws(() => trap.countText("gpt-5", "", "x"), CoreError);
});

/** (module (memory (export "memory") 2) (func (export "header") (export "input_window") …unreachable)) */
function trappingModule(): Uint8Array<ArrayBuffer> {
  const name = (text: string): number[] => [text.length, ...new TextEncoder().encode(text)];
  const section = (id: number, bytes: number[]): number[] => [id, bytes.length, ...bytes];
  return new Uint8Array([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 1, 0x7f, 1, 0x7f]),
    ...section(3, [1, 0]),
    ...section(5, [1, 0, 2]),
    ...section(7, [3, ...name("memory"), 2, 0, ...name("header"), 0, 0, ...name("input_window"), 0, 0]),
    ...section(10, [1, 3, 0, 0x00, 0x0b]),
  ]);
}
