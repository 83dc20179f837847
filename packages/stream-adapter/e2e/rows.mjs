// Every kind of chunk that a provider can send, through the real AI SDK in each supported version: what `fullStream`,
// `toUIMessageStream()` and the HTTP body of the UI message stream make of it must become the same parts. It also checks that
// every kind of chunk in the tables of the README was really seen, and that the SDK accepts the prompts of `toSdkPrompt`.

import assert from "node:assert/strict";

import { VSCodeStreamAdapter } from "../dist/index.mjs";
import { toSdkPrompt, toSdkTools } from "../dist/messages.mjs";
import { quiet, shown, vscode } from "../test/vscode.mjs";

const PNG = "iVBORw0KGgo=";
const bytes = (base64) => [...Buffer.from(base64, "base64")];
const text = (...deltas) => [
  { type: "text-start", id: "t" },
  ...deltas.map((delta) => ({ type: "text-delta", id: "t", delta })),
  { type: "text-end", id: "t" },
];
const reasoning = (...deltas) => [
  { type: "reasoning-start", id: "r" },
  ...deltas.map((delta) => ({ type: "reasoning-delta", id: "r", delta })),
  { type: "reasoning-end", id: "r" },
];
const call = (toolCallId, toolName, input) => ({ type: "tool-call", toolCallId, toolName, input: JSON.stringify(input) });
const streamedCall = (id, toolName, ...pieces) => [
  { type: "tool-input-start", id, toolName },
  ...pieces.map((delta) => ({ type: "tool-input-delta", id, delta })),
  { type: "tool-input-end", id },
];
const citation = (fields) => ({ data: "application/vnd.vscode.citation+json", content: { type: "citation", ...fields } });

/**
 * `chunks` come from the provider, `parts` are what VS Code gets. `error` is the start of the message if the answer fails, and `uiError`
 * what remains of it in a UI message stream, whose errors the SDK hides.
 */
const ROWS = [
  { name: "text", chunks: text("Grü", "ße 😀"), parts: [{ text: "Grüße 😀" }] },
  { name: "reasoning", chunks: [...reasoning("Hm", "m."), ...text("Yes.")], parts: [{ thinking: "Hmm." }, { text: "Yes." }] },
  {
    name: "a call",
    chunks: [call("c1", "look", { path: "a" })],
    finish: "tool-calls",
    parts: [{ call: "look", id: "c1", input: { path: "a" } }],
  },
  {
    name: "a call in pieces",
    chunks: [...streamedCall("c1", "look", '{"pa', 'th":"a"}'), call("c1", "look", { path: "a" })],
    finish: "tool-calls",
    parts: [{ call: "look", id: "c1", input: { path: "a" } }],
  },
  {
    name: "parallel calls",
    chunks: [call("c1", "look", { path: "a" }), call("c2", "look", { path: "b" })],
    finish: "tool-calls",
    parts: [
      { call: "look", id: "c1", input: { path: "a" } },
      { call: "look", id: "c2", input: { path: "b" } },
    ],
  },
  {
    name: "a call of a tool that doesn't exist",
    chunks: [call("c1", "nobody", { a: 1 })],
    finish: "tool-calls",
    parts: [{ call: "nobody", id: "c1", input: { a: 1 } }],
  },
  {
    name: "a call that the SDK runs",
    chunks: [call("c1", "run", { path: "a" }), call("c2", "look", { path: "b" })],
    finish: "tool-calls",
    parts: [{ call: "look", id: "c2", input: { path: "b" } }],
  },
  {
    name: "a call that the SDK runs in vain",
    chunks: [call("c1", "fail", { path: "a" })],
    finish: "tool-calls",
    parts: [],
  },
  {
    name: "a call that the provider has run",
    chunks: [
      { ...call("c1", "search", { q: "x" }), providerExecuted: true },
      { type: "tool-result", toolCallId: "c1", toolName: "search", result: { hits: 1 }, providerExecuted: true },
      ...text("Found."),
    ],
    parts: [{ text: "Found." }],
  },
  { name: "an image", chunks: [{ type: "file", mediaType: "image/png", data: PNG }], parts: [{ data: "image/png", content: bytes(PNG) }] },
  {
    name: "a text file",
    chunks: [{ type: "file", mediaType: "text/plain", data: Buffer.from("Hello").toString("base64") }],
    parts: [{ data: "text/plain", content: "Hello" }],
  },
  {
    name: "a JSON file",
    chunks: [{ type: "file", mediaType: "application/json", data: Buffer.from('{"a":1}').toString("base64") }],
    parts: [{ data: "application/json", content: { a: 1 } }],
  },
  {
    name: "a source with an address",
    chunks: [{ type: "source", sourceType: "url", id: "s1", url: "https://a.example/1", title: "A" }, ...text("x")],
    parts: [citation({ sourceType: "url", sourceId: "s1", url: "https://a.example/1", title: "A" }), { text: "x" }],
  },
  {
    name: "a source that is a document",
    chunks: [
      { type: "source", sourceType: "document", id: "s2", mediaType: "application/pdf", title: "B", filename: "b.pdf" },
      ...text("x"),
    ],
    parts: [
      citation({ sourceType: "document", sourceId: "s2", mediaType: "application/pdf", title: "B", filename: "b.pdf" }),
      { text: "x" },
    ],
  },
  { name: "raw chunks", chunks: [{ type: "raw", rawValue: { secret: 1 } }, ...text("x")], parts: [{ text: "x" }] },
  { name: "an empty answer", chunks: [], parts: [] },
  { name: "too long", chunks: text("Once"), finish: "length", parts: [{ text: "Once" }], status: "incomplete" },
  { name: "a content filter", chunks: text("Once"), finish: "content-filter", parts: [{ text: "Once" }], status: "incomplete" },
  {
    name: "an error in the middle",
    chunks: [
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: "Once" },
      { type: "error", error: new Error("It broke") },
    ],
    parts: [{ text: "Once" }],
    error: "It broke",
  },
  {
    name: "the end in the middle of a text",
    chunks: [
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: "Once" },
    ],
    finish: undefined,
    parts: [{ text: "Once" }],
    error: "The connection to the server broke",
  },
];

/** What only older versions send, what applications add, and what can't be made to happen in a provider. */
const BY_HAND = [
  {
    name: "names of version 4",
    chunks: [
      { type: "step-start", messageId: "m" },
      { type: "reasoning", textDelta: "Hm" },
      { type: "reasoning-signature", signature: "x" },
      { type: "reasoning-part-finish" },
      { type: "text-delta", textDelta: "Yes" },
      { type: "tool-call-streaming-start", toolCallId: "c1", toolName: "look" },
      { type: "tool-call-delta", toolCallId: "c1", toolName: "look", argsTextDelta: '{"a"' },
      { type: "tool-call-delta", toolCallId: "c1", toolName: "look", argsTextDelta: ":1}" },
      { type: "tool-call", toolCallId: "c1", toolName: "look", args: { a: 1 } },
      { type: "step-finish", finishReason: "tool-calls", usage: { promptTokens: 3, completionTokens: 2 } },
      { type: "finish", finishReason: "tool-calls", usage: { promptTokens: 3, completionTokens: 2 } },
    ],
    parts: [{ thinking: "Hm" }, { text: "Yes" }, { call: "look", id: "c1", input: { a: 1 } }],
  },
  {
    name: "chunks `text` and `reasoning`",
    chunks: [
      { type: "reasoning", text: "Hm" },
      { type: "text", text: "Yes" },
      { type: "finish", finishReason: "stop", totalUsage: { inputTokens: 3, outputTokens: 2 } },
    ],
    parts: [{ thinking: "Hm" }, { text: "Yes" }],
  },
  {
    name: "a call whose last chunk is missing",
    chunks: [
      { type: "tool-call-streaming-start", toolCallId: "c1", toolName: "look" },
      { type: "tool-call-delta", toolCallId: "c1", argsTextDelta: '{"a":1}' },
      { type: "finish", finishReason: "tool-calls", totalUsage: { inputTokens: 3, outputTokens: 2 } },
    ],
    parts: [{ call: "look", id: "c1", input: { a: 1 } }],
  },
];

const SEEN_IN_FULL_STREAM =
  "start start-step finish-step finish abort error text-start text-delta text-end reasoning-start reasoning-delta reasoning-end tool-call tool-input-start tool-input-delta tool-input-end tool-result tool-error source file raw";
const SEEN_IN_UI_STREAM =
  "start start-step finish-step finish abort error text-start text-delta text-end reasoning-start reasoning-delta reasoning-end tool-input-start tool-input-delta tool-input-available tool-output-available tool-output-error source-url source-document file data-note";

const USAGE = { inputTokens: 3, outputTokens: 2 };

/** A version of the SDK with its mock of a provider. */
async function version(number) {
  const ai = await import(`ai-${number}`);
  const mocks = await import(`ai-${number}/test`);
  const Model = mocks[{ 5: "MockLanguageModelV2", 6: "MockLanguageModelV3", 7: "MockLanguageModelV4" }[number]];
  const usage =
    number === 5
      ? { ...USAGE, totalTokens: 5 }
      : { inputTokens: { total: 3, noCache: 3, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 2, text: 2, reasoning: 0 } };
  const finish = (reason) => ({ type: "finish", usage, finishReason: number === 5 ? reason : { unified: reason, raw: reason } });
  const given = (chunk) => (chunk.type === "file" && number === 7 ? { ...chunk, data: { type: "data", data: chunk.data } } : chunk);
  const input = ai.jsonSchema({ type: "object", properties: { path: { type: "string" } } });
  const tools = {
    look: ai.tool({ description: "Looks", inputSchema: input }),
    search: ai.tool({ description: "Searches", inputSchema: ai.jsonSchema({ type: "object" }) }),
    run: ai.tool({ description: "Runs", inputSchema: input, execute: async () => "ran" }),
    fail: ai.tool({
      description: "Fails",
      inputSchema: input,
      execute: async () => {
        throw new Error("no");
      },
    }),
  };
  /** Starts an answer with these chunks. @param {any} row @param {object} [more] */
  const start = (row, more = {}) => {
    const chunks = [{ type: "stream-start", warnings: [] }, ...row.chunks.map(given)];
    if (!("finish" in row) || row.finish !== undefined) chunks.push(finish(row.finish ?? "stop"));
    const model = new Model({ doStream: async () => ({ stream: ReadableStream.from(chunks) }) });
    return ai.streamText({ model, prompt: "x", tools, maxRetries: 0, includeRawChunks: true, onError: () => {}, ...more });
  };
  return { number, ai, Model, tools, start };
}

const UI = {
  sendSources: true,
  onError: (error) => error.message,
  messageMetadata: ({ part }) => (part.type === "finish" ? { totalUsage: part.totalUsage } : undefined),
};
const WAYS = {
  fullStream: (result) => result.fullStream,
  result: (result) => result,
  toUIMessageStream: (result) => result.toUIMessageStream(UI),
  "its Response": (result) => result.toUIMessageStreamResponse(UI),
};

async function read(source, token) {
  const adapter = new VSCodeStreamAdapter({ vscode, logger: quiet });
  const parts = [];
  let error = "";
  try {
    await adapter.processStream(source, { report: (part) => parts.push(part) }, token);
  } catch (thrown) {
    error = thrown.message;
  }
  return { parts: shown(parts), error, usage: adapter.getUsage(), outcome: adapter.getOutcome() };
}

async function check(row, source) {
  const got = await read(source);
  assert.deepEqual(got.parts, row.parts);
  assert.ok(row.error === undefined ? got.error === "" : got.error.startsWith(row.error), got.error);
  if (row.error === undefined) {
    assert.equal(got.outcome.status, row.status ?? "completed");
    assert.deepEqual(got.usage, USAGE);
  }
}

/** Notes the types of the chunks that pass. */
async function* noting(types, stream) {
  for await (const chunk of stream) {
    types.add(chunk.type);
    yield chunk;
  }
}

async function checkAbort(sdk, way, types) {
  const controller = new AbortController();
  const stream = new ReadableStream({
    start: (provider) => {
      provider.enqueue({ type: "stream-start", warnings: [] });
      provider.enqueue({ type: "text-start", id: "t" });
      provider.enqueue({ type: "text-delta", id: "t", delta: "Once" });
      controller.signal.addEventListener("abort", () => provider.error(controller.signal.reason));
    },
  });
  const model = new sdk.Model({ doStream: async () => ({ stream }) });
  const result = sdk.ai.streamText({ model, prompt: "x", abortSignal: controller.signal, onError: () => {} });
  const source = WAYS[way](result);
  const parts = [];
  const adapter = new VSCodeStreamAdapter({ vscode, logger: quiet });
  const noted = source[Symbol.asyncIterator] === undefined ? source : noting(types, source);
  await adapter.processStream(noted, {
    report: (part) => {
      parts.push(part);
      controller.abort();
    },
  });
  assert.deepEqual([shown(parts), adapter.getOutcome().status], [[{ text: "Once" }], "cancelled"]);
}

/** What an application adds to a UI message stream. */
async function checkData(sdk, types) {
  const stream = sdk.ai.createUIMessageStream({
    execute: ({ writer }) => {
      writer.write({ type: "data-note", data: { a: [1] } });
      writer.merge(sdk.start({ chunks: text("x") }).toUIMessageStream(UI));
    },
  });
  const got = await read(noting(types, stream));
  assert.deepEqual(got.parts, [{ data: "application/vnd.vercel.note+json", content: { a: [1] } }, { text: "x" }]);
}

/** The SDK accepts the prompt of a chat with instructions, images, calls and results, and passes all of it on. */
async function checkPrompt({ number, ai, Model }) {
  const gif = { data: Uint8Array.from([0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 1, 0, 1, 0]), mimeType: "image/gif" };
  const pdf = { data: new TextEncoder().encode("%PDF-1.7\n"), mimeType: "application/pdf" };
  const chat = [
    { role: 3, content: [{ value: "Be brief." }] },
    { role: 1, content: [{ value: "Look at this." }, gif, pdf] },
    { role: 2, content: [{ value: "I will." }, { callId: "gw-c1", name: "look", input: { path: "a" } }] },
    { role: 1, content: [{ callId: "gw-c1", content: [{ value: "Here:" }, gif] }] },
  ];
  let prompt;
  const model = new Model({
    doStream: async (options) => {
      prompt = options.prompt;
      return { stream: ReadableStream.from([{ type: "stream-start", warnings: [] }]) };
    },
  });
  const tools = toSdkTools([{ name: "look", description: "Looks", inputSchema: { type: "object" } }], ai.jsonSchema);
  await read(ai.streamText({ model, ...(await toSdkPrompt(chat, { version: number })), tools, maxRetries: 0, onError: () => {} }));
  assert.deepEqual(
    prompt.map(({ role, content }) => [role, typeof content === "string" ? content : content.map((part) => part.mediaType ?? part.type)]),
    [
      ["system", "Be brief."],
      ["user", ["text", "image/gif", "application/pdf"]],
      ["assistant", ["text", "tool-call"]],
      ["tool", ["tool-result"]],
    ],
  );
  const [{ toolCallId, toolName, output }] = prompt[3].content;
  assert.deepEqual([toolCallId, toolName, output.value.map((part) => part.mediaType ?? part.text)], ["c1", "look", ["Here:", "image/gif"]]);
}

let [passed, failed] = [0, 0];
async function run(name, body) {
  try {
    await body();
    passed += 1;
  } catch (error) {
    failed += 1;
    console.log(`WRONG   ${name}\n${String(error.message ?? error).replace(/^/gm, "        ")}`);
  }
}

for (const number of [5, 6, 7]) {
  const sdk = await version(number);
  const types = { fullStream: new Set(), toUIMessageStream: new Set() };
  for (const way of Object.keys(WAYS)) {
    for (const row of ROWS) {
      const source = () => WAYS[way](sdk.start(row));
      await run(`ai ${number}, ${way}: ${row.name}`, () => check(row, types[way] ? noting(types[way], source()) : source()));
    }
    await run(`ai ${number}, ${way}: abort`, () => checkAbort(sdk, way, types[way] ?? new Set()));
  }
  await run(`ai ${number}: data of an application`, () => checkData(sdk, types.toUIMessageStream));
  await run(`ai ${number}: the prompt of a chat`, () => checkPrompt(sdk));
  for (const [way, expected] of [
    ["fullStream", SEEN_IN_FULL_STREAM],
    ["toUIMessageStream", SEEN_IN_UI_STREAM],
  ]) {
    const missing = expected.split(" ").filter((type) => !types[way].has(type));
    await run(`ai ${number}: every kind of chunk is in ${way}`, () => assert.deepEqual(missing, []));
  }
}
for (const row of BY_HAND) {
  await run(row.name, () => check(row, row.chunks));
}
console.log(`${passed} right, ${failed} wrong`);
process.exitCode = failed === 0 ? 0 : 1;
