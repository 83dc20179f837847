// `node main.mjs BASE_URL`: three versions of the real AI SDK query the embedded gateway. `fullStream`,
// `toUIMessageStream()` and the HTTP body of the UI message stream go through the adapter. Each must give the same
// result as the same request without an SDK, through OpenResponsesStreamAdapter. If an SDK itself drops something,
// exactly that is missing.

import assert from "node:assert/strict";

import { OpenResponsesStreamAdapter, VSCodeStreamAdapter } from "../dist/index.mjs";
import { quiet, shown, vscode } from "../test/vscode.mjs";
import { direct, sdks } from "./sdks.mjs";

const baseURL = process.argv[2];
const picture = ({ data }) => data === "image/png";
const citation = ({ data }) => data?.includes("citation");
const thinking = ({ thinking }) => thinking !== undefined;
const replay = ({ metadata }) => metadata?.replay !== undefined;

/** The question of each scenario, and how the SDKs' own shortcomings change the answer. */
const SCENARIOS = [
  { name: "text", model: "sluice/echo", prompt: "Grüße, 水位 & Co. 😀\n\nZwei Absätze." },
  { name: "text in CRLF frames of 7 bytes", model: "sluice/echo+crlf+chunk=7", prompt: "Grüße 😀" },
  {
    name: "reasoning",
    model: "sluice/reasoning+openai-names",
    prompt: "why?",
    // OpenAI's provider reads summaries and not the raw reasoning. The other one passes on what is shown of it, but not
    // the items that the server needs back.
    lost: { "openai-2": thinking, "openai-3": thinking, "openai-4": thinking, "open-responses-1": replay, "open-responses-2": replay },
  },
  { name: "a reasoning summary", model: "sluice/thinking-only", prompt: "why?" },
  { name: "one tool", model: "sluice/tools", prompt: "read_file", withTools: true },
  { name: "parallel tools", model: "sluice/parallel-tools", prompt: "read_file and search", withTools: true },
  { name: "sources", model: "sluice/citations", prompt: "x", lost: { "open-responses-1": citation } },
  {
    name: "files",
    model: "sluice/image",
    prompt: "x",
    lost: { "open-responses-1": picture, "open-responses-2": picture },
    // It accepts images only with one of OpenAI's own tools.
    broken: { "openai-2": "Cannot read properties of undefined (reading 'image_generation')" },
  },
  { name: "incomplete", model: "sluice/incomplete", prompt: "x" },
  { name: "content filter", model: "sluice/content-filter", prompt: "x" },
  { name: "an empty answer", model: "sluice/empty", prompt: "x" },
  { name: "an error in the stream", model: "sluice/error", prompt: "x", vague: ["open-responses-1"] },
  // Version 2 of OpenAI's provider does not read `response.failed`. Its stream just ends, in the middle of the text.
  { name: "a failed answer", model: "sluice/failed", prompt: "x", vague: ["open-responses-1"], cutOff: ["openai-2"] },
  {
    name: "a model that does not exist",
    model: "sluice/nobody",
    prompt: "x",
    // A UI message stream has only the error's message; `fullStream` has the server's response, which contains more.
    uiError: { "open-responses-1": "Not Found", "open-responses-2": "Not Found" },
  },
];

async function read(Adapter, source) {
  const adapter = new Adapter({ vscode, logger: quiet });
  const parts = [];
  let error;
  try {
    await adapter.processStream(source, { report: (part) => parts.push(part) });
  } catch (thrown) {
    error = thrown;
  }
  return { parts, error: error?.message, kind: error?.failure?.kind, outcome: adapter.getOutcome(), usage: adapter.getUsage() };
}

/** Removes what differs from request to request: ids of calls and sources. */
function comparable(parts) {
  return shown(parts).map(({ id, content, ...rest }) => {
    if (content?.sourceId === undefined) return content === undefined ? rest : { ...rest, content };
    const { sourceId, ...source } = content;
    return { ...rest, content: source };
  });
}

async function check(sdk, scenario, way) {
  const { model, prompt, withTools } = scenario;
  const expected = await read(OpenResponsesStreamAdapter, direct(baseURL, model, prompt, { withTools }));
  const result = sdk.start(model, prompt, { withTools });
  const got = await read(VSCodeStreamAdapter, WAYS[way](result));

  const lost = scenario.lost?.[sdk.provider];
  const breaks = scenario.broken?.[sdk.provider];
  if (breaks !== undefined) {
    assert.deepEqual([got.parts, got.error], [[], breaks]);
    return;
  }
  const wanted = comparable(expected.parts);
  assert.deepEqual(comparable(got.parts), lost === undefined ? wanted : wanted.filter((part) => !lost(part)));
  if (scenario.cutOff?.includes(sdk.provider)) {
    assert.equal(got.error, "The connection to the server broke before the answer was complete.");
    assert.equal(got.outcome.status, "truncated");
    return;
  }
  if (scenario.vague?.includes(sdk.provider)) {
    assert.equal(got.error, "The server reported an error without saying which.");
    return;
  }
  const uiError = way === "fullStream" ? undefined : scenario.uiError?.[sdk.provider];
  assert.equal(got.error, uiError ?? expected.error);
  if (expected.error === undefined) {
    assert.equal(got.outcome.status, expected.outcome.status);
    assert.equal(got.outcome.reason, expected.outcome.reason);
    // UI message streams carry no usage unless the application puts it there; ours does.
    assert.deepEqual(got.usage, expected.usage);
  } else if (way === "fullStream") {
    assert.equal(got.kind, expected.kind);
  }
}

const forUi = {
  sendReasoning: true,
  sendSources: true,
  onError: (error) => error.message ?? error.error?.message,
  messageMetadata: ({ part }) => (part.type === "finish" ? { totalUsage: part.totalUsage } : undefined),
};
const WAYS = {
  fullStream: (result) => result.fullStream,
  "UI messages": (result) => result.toUIMessageStream(forUi),
  "UI message body": (result) => result.toUIMessageStreamResponse(forUi),
};

/** The caller cancels in the middle. Both kinds of stream stop immediately, keep what has arrived, and resolve. */
async function checkAbort(sdk, way) {
  const controller = new AbortController();
  const adapter = new VSCodeStreamAdapter({ vscode, logger: quiet });
  const result = sdk.start("sluice/long+pace=2", "Say 5000 words", { abortSignal: controller.signal });
  const parts = [];
  const usage = await adapter.processStream(WAYS[way](result), {
    report: (part) => {
      parts.push(part);
      if (parts.length === 3) controller.abort();
    },
  });
  assert.equal(adapter.getOutcome().status, "cancelled");
  assert.deepEqual(usage, { inputTokens: null, outputTokens: null });
  assert.ok(parts.length >= 3 && parts.length < 5000, `${parts.length} parts`);

  // The same, cancelled by VS Code's token and without help from the SDK.
  const listeners = [];
  const token = {
    isCancellationRequested: false,
    onCancellationRequested(listener) {
      listeners.push(listener);
      return { dispose() {} };
    },
  };
  let count = 0;
  const again = sdk.start("sluice/long+pace=2", "Say 5000 words", {});
  await adapter.processStream(
    WAYS[way](again),
    {
      report: () => {
        if (++count === 3) {
          token.isCancellationRequested = true;
          listeners.forEach((listener) => listener());
        }
      },
    },
    token,
  );
  assert.equal(count, 3);
  assert.equal(adapter.getOutcome().status, "cancelled");
}

let failed = 0;
let passed = 0;
for (const sdk of await sdks(baseURL)) {
  for (const way of Object.keys(WAYS)) {
    const cases = SCENARIOS.map((scenario) => [scenario.name, () => check(sdk, scenario, way)]);
    for (const [name, run] of [...cases, ["abort", () => checkAbort(sdk, way)]]) {
      try {
        await run();
        passed += 1;
      } catch (error) {
        failed += 1;
        console.log(`WRONG   ${sdk.name}, ${way}: ${name}\n${String(error.message ?? error).replace(/^/gm, "        ")}`);
      }
    }
  }
  console.log(`${sdk.name}: done`);
}
console.log(`${passed} right, ${failed} wrong`);
process.exitCode = failed === 0 ? 0 : 1;
