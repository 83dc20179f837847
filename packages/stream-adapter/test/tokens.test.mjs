// Token counts for `provideTokenCount`.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";

import { countTokens } from "../dist/tokens.mjs";

test("texts are counted with the model's vocabulary", async () => {
  for (const [model, text, expected] of [
    ["openai/gpt-5", "", 0],
    ["openai/gpt-5", "How long is this text?", 6],
    ["openai/gpt-5", "<|endoftext|>", 7],
    ["openai/gpt-4", "antidisestablishmentarianism", 6],
    ["gpt-5", "水位 😀", 3],
  ]) {
    assert.equal(await countTokens(model, text), expected, `${model}: ${text}`);
  }
  // Other families have more tokens for the same text.
  const long = "The gate opens slowly. ".repeat(100);
  assert.ok((await countTokens("anthropic/claude-sonnet-4.5", long)) > (await countTokens("openai/gpt-5", long)));
});

test("messages count with their overhead, calls, results and images", async () => {
  const { countTokens: fromCommonJs } = createRequire(import.meta.url)("../dist/tokens.cjs");
  const count = (content, role = 1) => fromCommonJs("openai/gpt-5", { role, content });
  const text = await countTokens("openai/gpt-5", "How long is this text?");
  const message = await count([{ value: "How long is this text?" }]);
  assert.ok(message > text && message < text + 10, `${message}`);
  assert.equal(await count("How long is this text?"), message);
  const call = { callId: "call_1", name: "read_file", input: { path: "a.txt" } };
  assert.ok((await count([call], 2)) > (await count([], 2)));
  assert.ok((await count([{ callId: "call_1", content: [{ value: "The text." }] }])) > (await count([])));
  const picture = { data: Uint8Array.from([0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 0, 4, 0, 4]), mimeType: "image/gif" };
  assert.ok((await count([picture])) > 100);
});
