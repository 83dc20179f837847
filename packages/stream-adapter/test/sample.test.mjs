// The provider in the README is the file in sample/, and it works with mocks of VS Code and a made-up answer.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import Module, { createRequire } from "node:module";
import { test } from "node:test";

import { LanguageModelTextPart, shown, vscode } from "./vscode.mjs";

const file = new URL("../sample/extension.js", import.meta.url);

test("the README's code is the samples'", () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  for (const [language, sample] of [
    ["js", "sample/extension.js"],
    ["ts", "sample-ai-sdk/extension.ts"],
  ]) {
    const code = readFileSync(new URL(`../${sample}`, import.meta.url), "utf8");
    assert.ok(readme.includes(`\`\`\`${language}\n${code}\`\`\``), `copy ${sample} into README.md`);
    assert.ok(code.split("\n").filter((line) => line !== "").length <= 30, "thirty lines");
  }
});

test("the sample answers", async () => {
  const asked = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    asked.push(JSON.parse(body));
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write('data: {"type":"response.output_text.delta","output_index":0,"delta":"Hi"}\n\n');
    response.end('data: {"type":"response.completed","response":{"usage":{"input_tokens":1,"output_tokens":2}}}\n\n');
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  process.env.SAMPLE_BASE_URL = `http://127.0.0.1:${server.address().port}/v1`;

  let provider;
  const editor = {
    ...vscode,
    LanguageModelChatMessageRole: { User: 1, Assistant: 2 },
    lm: {
      registerLanguageModelChatProvider(_vendor, given) {
        provider = given;
        return { dispose() {} };
      },
    },
  };
  const require = createRequire(import.meta.url);
  const load = Module._load;
  const log = console.log;
  console.log = () => {};
  Module._load = (name, ...rest) => (name === "vscode" ? editor : load(name, ...rest));
  try {
    require(file.pathname).activate({ subscriptions: [] });
    const [model] = provider.provideLanguageModelChatInformation();
    const messages = [{ role: 1, content: [new LanguageModelTextPart("Hello")] }];
    const parts = [];
    const tools = [{ name: "f", description: "d", inputSchema: { type: "object" } }];
    await provider.provideLanguageModelChatResponse(model, messages, { tools }, { report: (part) => parts.push(part) });
    assert.deepEqual(shown(parts.slice(0, -1)), [{ text: "Hi" }]);
    assert.equal(parts.at(-1).mimeType, "usage");
    assert.deepEqual(asked[0].input, [{ type: "message", role: "user", content: [{ type: "input_text", text: "Hello" }] }]);
    // The next turn has the call and its result, with the id that the server knows.
    const call = { callId: "gw-call_1", name: "f", input: { a: 1 } };
    const result = { callId: "gw-call_1", content: [new LanguageModelTextPart("done")] };
    const turn = [...messages, { role: 2, content: [call] }, { role: 1, content: [result] }];
    await provider.provideLanguageModelChatResponse(model, turn, { tools }, { report() {} });
    assert.deepEqual(asked[1].input.slice(1), [
      { type: "function_call", call_id: "call_1", name: "f", arguments: '{"a":1}' },
      { type: "function_call_output", call_id: "call_1", output: "done" },
    ]);
    assert.equal(await provider.provideTokenCount(model, "12345678"), 3);
  } finally {
    Module._load = load;
    console.log = log;
    server.close();
  }
});
