// `node gateway.mjs BASE_URL`: two independent clients, the openai SDK and the AI SDK's open-responses provider, read
// the embedded gateway. They know nothing about Sluice, so what they accept, others will too.

import assert from "node:assert/strict";

import { createOpenResponses } from "@ai-sdk/open-responses";
import { jsonSchema, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";

const baseURL = process.argv[2];
const parameters = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const tools = [{ type: "function", name: "read_file", description: "Reads a file", strict: false, parameters }];
const greeting = "Grüße, 水位 & Co. 😀";

const openai = new OpenAI({ baseURL, apiKey: "demo", maxRetries: 0 });

async function throughOpenai(model, content, more = {}) {
  const stream = openai.responses.stream({ model, input: [{ type: "message", role: "user", content }], ...more });
  for await (const _ of stream);
  return stream.finalResponse();
}

const openaiCases = {
  text: async () => assert.equal((await throughOpenai("sluice/echo", greeting)).output_text, greeting),
  "CRLF in pieces of 7 bytes": async () => assert.equal((await throughOpenai("sluice/echo+crlf+chunk=7", greeting)).output_text, greeting),
  gzip: async () => assert.equal((await throughOpenai("sluice/echo+gzip", greeting)).output_text, greeting),
  "thinking and a call": async () => {
    const reasoning = { effort: "low", summary: "auto" };
    const answer = await throughOpenai("sluice/demo+pace=0", "Please look at src/main.rs", { tools, reasoning });
    const call = answer.output.find((item) => item.type === "function_call");
    assert.deepEqual(JSON.parse(call.arguments), { path: "src/main.rs" });
    assert.ok(answer.output.some((item) => item.type === "reasoning"));
  },
  incomplete: async () => assert.equal((await throughOpenai("sluice/incomplete", "x")).status, "incomplete"),
  usage: async () => {
    const { usage } = await throughOpenai("sluice/echo", greeting);
    assert.equal(usage.total_tokens, usage.input_tokens + usage.output_tokens);
  },
};

const gateway = createOpenResponses({ name: "sluice", url: `${baseURL}/responses`, apiKey: "demo" });

function throughAiSdk(model, prompt, more = {}) {
  return streamText({ model: gateway(model), prompt, ...more, onError: ({ error }) => assert.fail(String(error)) });
}

const aiSdkCases = {
  text: async () => assert.equal(await throughAiSdk("sluice/echo", greeting).text, greeting),
  reasoning: async () => assert.ok(await throughAiSdk("sluice/reasoning+openai-names", "why?").reasoningText),
  "a tool round trip": async () => {
    const seen = [];
    const execute = async ({ path }) => {
      seen.push(path);
      return "fn main() {}";
    };
    const read_file = tool({ description: "Reads a file", inputSchema: jsonSchema(parameters), execute });
    const answer = throughAiSdk("sluice/demo+pace=0", "Please read src/main.rs", {
      tools: { read_file },
      stopWhen: stepCountIs(3),
    });
    assert.match(await answer.text, /fn main\(\) \{\}/);
    assert.deepEqual(seen, ["src/main.rs"]);
  },
};

let failed = 0;
for (const [client, cases] of Object.entries({ openai: openaiCases, "@ai-sdk/open-responses": aiSdkCases })) {
  for (const [name, run] of Object.entries(cases)) {
    try {
      await run();
      console.log(`ok      ${client}: ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`WRONG   ${client}: ${name}\n        ${String(error.message ?? error).split("\n")[0]}`);
    }
  }
}
console.log(failed === 0 ? "Both read the gateway." : `${failed} wrong`);
process.exitCode = failed === 0 ? 0 : 1;
