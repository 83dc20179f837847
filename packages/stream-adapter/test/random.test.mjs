// Chunks are any JavaScript values. Whatever they are, the answer ends with a named outcome, and a tool gets the
// model's arguments or isn't called.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";

import { SluiceStreamError, VSCodeStreamAdapter } from "../dist/index.mjs";
import { LanguageModelToolCallPart, quiet, shown, vscode } from "./vscode.mjs";

const finish = { type: "finish", finishReason: "stop" };
// A fixed seed, so that what passed passes again; SEED chooses another.
const runs = { numRuns: 1000, seed: Number(process.env.SEED ?? 1) };

const anything = fc.anything({
  maxDepth: 4,
  withBigInt: true,
  withBoxedValues: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withObjectString: true,
  withSet: true,
  withSparseArray: true,
  withTypedArray: true,
});
/** A placeholder for a revoked proxy, which no library can generate, because it can't even be inspected. */
const REVOKED = Symbol("revoked");
/** Values that can't be read properly. */
const hostile = fc.oneof(
  fc.constant(REVOKED),
  fc.string().map((name) => ({
    get [name]() {
      throw new Error(name);
    },
  })),
  fc.constant(0).map(() => {
    const value = {};
    value.value = [value];
    return value;
  }),
  anything.map((value) => ({ toJSON: () => value })),
  anything.map((value) => new Proxy({ value }, {})),
  fc.constantFrom(Symbol("s"), () => 1, new Error("e"), new AggregateError([1], "a"), new Date(NaN), new URL("https://a.example"), /x/),
);
const value = fc.oneof(anything, hostile, fc.array(hostile), fc.dictionary(fc.string(), hostile));

function revoking(value, depth = 0) {
  if (value === REVOKED) {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  }
  const type = Object.prototype.toString.call(value);
  if (depth < 3 && type === "[object Array]") {
    return value.map((element) => revoking(element, depth + 1));
  }
  if (depth < 3 && type === "[object Object]" && typeof value.toJSON !== "function") {
    for (const [name, { value: field }] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
      if (field === REVOKED) value[name] = revoking(field);
    }
  }
  return value;
}

async function read(chunks) {
  const adapter = new VSCodeStreamAdapter({ vscode, logger: quiet });
  const parts = [];
  const run = adapter.processStream(chunks, { report: (part) => parts.push(part) });
  const error = await run.then(
    () => undefined,
    (thrown) => thrown,
  );
  return { parts, error, outcome: adapter.getOutcome() };
}

test("a tool gets exactly the model's arguments", async () => {
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 6 })), async (input) => {
      const { parts } = await read([{ type: "tool-call", toolCallId: "c", toolName: "f", input }, finish]);
      assert.ok(parts[0] instanceof LanguageModelToolCallPart);
      assert.equal(JSON.stringify(parts[0].input), JSON.stringify(JSON.parse(JSON.stringify(input))));
    }),
    runs,
  );
});

test("any value as arguments becomes a call with an object or a failure that names the tool", async () => {
  await fc.assert(
    fc.asyncProperty(value, async (input) => {
      const { parts, error, outcome } = await read([{ type: "tool-call", toolCallId: "c", toolName: "f", input: revoking(input) }, finish]);
      if (error === undefined) {
        assert.equal(parts.length, 1);
        assert.equal(Object.prototype.toString.call(parts[0].input), "[object Object]");
      } else {
        assert.deepEqual([parts.length, outcome.status, outcome.error.tool], [0, "failed", "f"]);
      }
    }),
    runs,
  );
});

test("any chunks end with an outcome, and the error is short plain text", async () => {
  const types = [
    "text-delta",
    "reasoning-delta",
    "tool-input-start",
    "tool-input-delta",
    "tool-input-end",
    "tool-call",
    "tool-result",
    "file",
    "source",
    "data-x",
    "finish-step",
    "finish",
    "error",
    "response-metadata",
    "text-end",
    "reasoning-end",
    "unheard-of",
  ];
  const names = [
    "id",
    "text",
    "delta",
    "toolCallId",
    "toolName",
    "input",
    "output",
    "file",
    "mediaType",
    "data",
    "url",
    "error",
    "usage",
    "providerMetadata",
  ];
  const chunk = fc.oneof(
    { weight: 5, arbitrary: fc.tuple(fc.constantFrom(...types), fc.dictionary(fc.constantFrom(...names), fc.oneof(fc.string(), value))) },
    { weight: 1, arbitrary: value.map((chunk) => [undefined, chunk]) },
  );
  const chunks = fc.array(
    chunk.map(([type, fields]) => (type === undefined ? fields : Object.assign(fields, { type }))),
    { maxLength: 6 },
  );
  await fc.assert(
    fc.asyncProperty(chunks, async (stream) => {
      const { parts, error, outcome } = await read(stream.map((chunk) => revoking(chunk)));
      shown(parts);
      assert.ok(outcome !== undefined);
      if (error !== undefined) {
        assert.ok(SluiceStreamError.is(error), `${error}`);
        assert.ok(!error.stack.includes("\n"));
      }
    }),
    runs,
  );
});
