// Runs the package without Node: in a fresh context with the globals of the web and none of Node's.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { createContext, SourceTextModule } from "node:vm";

const WEB = [
  "TextEncoder",
  "TextDecoder",
  "atob",
  "btoa",
  "URL",
  "AbortController",
  "AbortSignal",
  "ReadableStream",
  "Response",
  "DecompressionStream",
  "queueMicrotask",
  "performance",
];

test("the ES module runs in a context without Node", {
  skip: SourceTextModule === undefined && "needs --experimental-vm-modules",
}, async () => {
  const context = createContext(
    Object.fromEntries([...WEB.map((name) => [name, globalThis[name]]), ["console", { debug() {}, warn() {} }]]),
  );
  const module = new SourceTextModule(readFileSync(new URL("../dist/index.mjs", import.meta.url), "utf8"), { context });
  await module.link((name) => assert.fail(`it imports ${name}`));
  await module.evaluate();
  const main = new SourceTextModule(
    `import { VSCodeStreamAdapter } from "adapter";
     class LanguageModelTextPart { constructor(value) { this.value = value; } }
     const adapter = new VSCodeStreamAdapter({ vscode: { LanguageModelTextPart, LanguageModelToolCallPart: LanguageModelTextPart } });
     export let text = "";
     const chunks = [{ type: "text-delta", text: "ab" }, { type: "finish", finishReason: "stop", totalUsage: { inputTokens: 1, outputTokens: 2 } }];
     export const usage = await adapter.processStream(chunks, { report: (part) => (text += part.value) });
     export const names = [typeof process, typeof Buffer, typeof require];`,
    { context },
  );
  await main.link(() => module);
  await main.evaluate();
  assert.equal(main.namespace.text, "ab");
  assert.equal(main.namespace.usage.outputTokens, 2);
  assert.deepEqual([...main.namespace.names], ["undefined", "undefined", "undefined"]);
});
