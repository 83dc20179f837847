// How streams fail: each failure is a SluiceStreamError with a classified failure and an outcome.

import assert from "node:assert/strict";
import { test } from "node:test";

import { OpenResponsesStreamAdapter, SluiceStreamError, VSCodeStreamAdapter } from "../dist/index.mjs";
import { quiet, shown, vscode } from "./vscode.mjs";

async function read(Adapter, source, token) {
  const adapter = new Adapter({ vscode, logger: quiet });
  const parts = [];
  let error;
  try {
    await adapter.processStream(source, { report: (part) => parts.push(part) }, token);
  } catch (thrown) {
    error = thrown;
  }
  return { parts: shown(parts), error, outcome: adapter.getOutcome() };
}

async function* chunks(...all) {
  yield* all;
}

const TEXT = [
  { type: "text-start", id: "0" },
  { type: "text-delta", id: "0", text: "Hel" },
];

test("a provider's stream that just ends is cut off", async () => {
  for (const finishReason of ["other", "unknown"]) {
    const steps = [
      { type: "finish-step", finishReason, usage: {} },
      { type: "finish", finishReason, totalUsage: {} },
    ];
    const cut = await read(VSCodeStreamAdapter, chunks(...TEXT, ...steps));
    assert.ok(SluiceStreamError.is(cut.error), `${cut.error}`);
    assert.deepEqual([cut.parts, cut.outcome.status], [[{ text: "Hel" }], "truncated"]);
    const whole = await read(VSCodeStreamAdapter, chunks(...TEXT, { type: "text-end", id: "0" }, ...steps));
    assert.deepEqual([whole.error, whole.outcome.status], [undefined, "completed"]);
  }
});

test("a call that the SDK has run is not given to VS Code as well", async () => {
  const call = (toolCallId, toolName) => ({ type: "tool-call", toolCallId, toolName, input: {} });
  const { parts } = await read(
    VSCodeStreamAdapter,
    chunks(
      { type: "start-step" },
      call("c1", "sdk_runs_it"),
      call("c2", "code_runs_it"),
      { type: "tool-result", toolCallId: "c1", toolName: "sdk_runs_it", input: {}, output: "x" },
      { type: "finish-step", finishReason: "tool-calls", usage: {} },
      { type: "finish", finishReason: "tool-calls", totalUsage: {} },
    ),
  );
  assert.deepEqual(
    parts.map((part) => part.call),
    ["code_runs_it"],
  );
});

const RESPONSE = {
  id: "r",
  object: "response",
  status: "completed",
  model: "m",
  output: [
    { type: "message", id: "i", role: "assistant", status: "completed", content: [{ type: "output_text", text: "Hi", annotations: [] }] },
  ],
  usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
};

test("a whole response is read like a stream", async () => {
  const json = JSON.stringify(RESPONSE);
  for (const source of [new Response(json, { headers: { "content-type": "application/json" } }), json, RESPONSE]) {
    const { parts, error, outcome } = await read(OpenResponsesStreamAdapter, source);
    assert.deepEqual([error, parts, outcome.status], [undefined, [{ text: "Hi" }], "completed"]);
  }
});

test("a request without a connection is a failure of the network", async () => {
  const refused = Object.assign(new TypeError("fetch failed"), { cause: { code: "ECONNREFUSED" } });
  for (const source of [Promise.reject(refused), () => Promise.reject(refused), async () => Promise.reject(refused)]) {
    const { error, outcome } = await read(OpenResponsesStreamAdapter, source);
    assert.ok(error instanceof SluiceStreamError && error.cause === refused, `${error}`);
    assert.deepEqual([error.failure.kind, outcome.status], ["network", "failed"]);
    assert.match(error.message, /^No connection to the server/);
  }
});

test("a request that is cancelled before its response is cancelled", async () => {
  const controller = new AbortController();
  let signal;
  const send = (given) => {
    signal = given;
    return new Promise((_, reject) => given.addEventListener("abort", () => reject(new DOMException("stop", "AbortError"))));
  };
  const reading = read(OpenResponsesStreamAdapter, send, controller.signal);
  controller.abort();
  const { error, outcome } = await reading;
  assert.deepEqual([error, outcome.status, signal.aborted], [undefined, "cancelled", true]);
});

test("an error of the server is classified", async () => {
  const response = new Response('{"error":{"message":"no such key"}}', { status: 401, headers: { "content-type": "application/json" } });
  const { error, outcome } = await read(OpenResponsesStreamAdapter, response);
  assert.deepEqual([error.name, error.failure.kind, error.outcome], ["SluiceStreamError", "signIn", outcome]);
});
