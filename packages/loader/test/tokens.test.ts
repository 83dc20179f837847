// What must hold for the token counter's boundary. The counts themselves are tested in Rust.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { loadTokens, Tokens, TokensError } from "../src/tokens.js";
import { fromEnvironment, wasmBytes } from "./support.js";

const tokensBytes = new Uint8Array(readFileSync(fromEnvironment("SLUICE_TOKENS_WASM")));
const tokens: Tokens = await loadTokens(tokensBytes);

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
    ["\ud800 half a pair", tokens.countText("gpt-5", "\ufffd half a pair")],
    ["x".repeat(49), tokens.countText("gpt-5", `${"x".repeat(24)}${"x".repeat(25)}`)],
  ];
  for (let round = 0; round < 3; round++) {
    for (const [text, count] of cases) {
      assert.equal(tokens.countText("openai/gpt-5", text), count, JSON.stringify(text));
    }
  }
  assert.equal(tokens.countText("gpt-4", "こんにちは世界"), 4);
  assert.equal(tokens.countText("gpt-5", "こんにちは世界"), 2);
});

test("small texts are counted after a large one has grown the memory", () => {
  const large = "The quick brown fox. ".repeat(500_000);
  assert.equal(tokens.countText("gpt-5", large), 2_500_001);
  assert.equal(tokens.countText("gpt-5", "hello world"), 2);
});

test("more texts than the cache holds are counted", () => {
  for (let at = 0; at < 50_000; at++) {
    assert.ok(tokens.countText("gpt-5", `text ${at}`) >= 2);
  }
  assert.equal(tokens.countText("gpt-5", "text 7"), 3);
});

test("a vocabulary that was built elsewhere works", () => {
  const module = new WebAssembly.Module(tokensBytes);
  const built = new Tokens(module);
  built.prepare("gpt-5");
  const memory = built.memory();
  const copies = [new Tokens(module, memory), new Tokens(module, memory)];
  built.countText("gpt-5", "x".repeat(1_000_000));
  for (const copy of copies) {
    assert.equal(copy.countText("gpt-5", "こんにちは世界"), 2);
    assert.equal(copy.countText("gpt-4", "こんにちは世界"), 4, "others are built beside it");
  }
});

test("messages, chats and requests are counted", () => {
  const message = { role: "user" as const, content: [{ type: "text" as const, value: "hello \ud800 world" }] };
  assert.equal(tokens.countMessage("gpt-5", message), tokens.countText("gpt-5", "hello \ufffd world") + 4);
  const chat = tokens.countChat({ model: "gpt-5", messages: [message] });
  assert.equal(chat.input_tokens, tokens.countMessage("gpt-5", message) + 2);
  assert.equal(chat.tokenizer, "gpt-5");
  assert.deepEqual(tokens.countRequest(`{"model":"gpt-4o","input":"hello world"}`).input_tokens, 9);
});

test("an invalid message is refused, and the counter continues to work", () => {
  assert.throws(() => tokens.countMessage("gpt-5", { role: "nobody" } as never), TypeError);
  assert.throws(() => tokens.countRequest("hello"), TypeError);
  assert.throws(() => tokens.countChat("hello" as never), TypeError);
  assert.equal(tokens.countText("gpt-5", "still here"), 2);
});

test("a trap becomes a named error, and the next count uses a new instance", async () => {
  // A module whose functions all trap.
  const trap = await loadTokens(trappingModule());
  assert.throws(() => trap.countText("gpt-5", "x"), TokensError);
  assert.throws(() => trap.countText("gpt-5", "x"), TokensError);
});

/** (module (memory (export "memory") 2) (func (export "input_window") …unreachable)) */
function trappingModule(): Uint8Array<ArrayBuffer> {
  const name = (text: string): number[] => [text.length, ...new TextEncoder().encode(text)];
  const section = (id: number, bytes: number[]): number[] => [id, bytes.length, ...bytes];
  return new Uint8Array([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 1, 0x7f, 1, 0x7f]),
    ...section(3, [1, 0]),
    ...section(5, [1, 0, 2]),
    ...section(7, [2, ...name("memory"), 2, 0, ...name("input_window"), 0, 0]),
    ...section(10, [1, 3, 0, 0x00, 0x0b]),
  ]);
}
