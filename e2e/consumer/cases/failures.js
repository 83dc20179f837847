// Every fault of the embedded gateway: some must have no effect, the others must give a clear error.
const assert = require("node:assert/strict");
const vscode = require("vscode");
const { failure, parts, said, seen, until } = require("../ask");

const kinds = JSON.parse(process.env.SLUICE_E2E_FAULTS);
const PROMPT = "Every word of this has to arrive, once.";
const TOOL = { name: "look", description: "Looks", inputSchema: { type: "object", properties: { at: { type: "string" } } } };
const CALLS = 'look {"at":"the gate"} and look {"at":"the wheel"}';

/** Runs a check for each name, all at the same time. */
const all = async (names, check) => {
  const results = await Promise.all(
    names.map((name) =>
      check(name).then(
        () => "",
        (error) => `${name}: ${error.message}`,
      ),
    ),
  );
  const failed = results.filter(Boolean);
  if (failed.length) throw new Error(failed.join("\n"));
};

/** Runs a check for each fault of a kind, with the model's id and the expected message. */
const each = (kind, check) => {
  const { model, faults } = kinds[kind];
  return all(Array.isArray(faults) ? faults : Object.keys(faults), (name) => check(`${model}+${name}`, faults[name]));
};

/** Checks that an error is readable for the extension that catches it and in Chat. */
function readable(error) {
  assert.ok(error instanceof Error, `not an Error: ${error}`);
  assert.ok(error.message.length > 10 && error.message.length < 600, `not a readable message: ${error.message}`);
  assert.doesNotMatch(error.message, /\n\s+at |undefined|\[object|TypeError|fetch failed|^Error:/, error.message);
  assert.ok(!error.message.includes(process.env.AI_GATEWAY_API_KEY), "it contains the key");
  // Chat shows the stack after the message, if there is one.
  assert.doesNotMatch(error.stack ?? "", /extension\.js|dist\//, `its stack leads into our code: ${error.stack}`);
}

module.exports = [
  [
    "faults in framing and timing change nothing",
    () =>
      each("same", async (id) => {
        assert.deepEqual(said(await parts(id, PROMPT)), [{ text: PROMPT }]);
      }),
  ],
  [
    "dialects of thinking change nothing",
    async () => {
      const expected = said(await parts("sluice/reasoning", PROMPT));
      await each("sameThoughts", async (id) => assert.deepEqual(said(await parts(id, PROMPT)), expected));
    },
  ],
  [
    "dialects of tool calls change nothing",
    async () => {
      const calls = (answer) => said(answer).map(({ call, input }) => ({ call, input }));
      const expected = calls(await parts("sluice/parallel-tools", CALLS, { tools: [TOOL] }));
      assert.equal(expected.length, 2);
      await each("sameCalls", async (id) => {
        const answer = await parts(id, CALLS, { tools: [TOOL] });
        assert.deepEqual(calls(answer), expected);
        assert.equal(new Set(said(answer).map((part) => part.id)).size, 2, "two calls have the same id");
      });
    },
  ],
  [
    "damaged events still give a complete answer",
    () =>
      each("completed", async (id) => {
        const answer = said(await parts(id, PROMPT));
        assert.ok(
          answer.some((part) => part.text),
          JSON.stringify(answer).slice(0, 300),
        );
      }),
  ],
  [
    "every failure has a readable message",
    () =>
      each("failed", async (id, expected) => {
        const error = await failure(parts(id, PROMPT));
        readable(error);
        assert.match(error.message, new RegExp(expected, "i"));
      }),
  ],
  [
    "a call that was cut off is not made",
    () =>
      each("failedCalls", async (id, expected) => {
        const got = [];
        const error = await failure(parts(id, CALLS, { tools: [TOOL] }, undefined, (part) => got.push(part)));
        readable(error);
        assert.match(error.message, new RegExp(expected, "i"));
        assert.equal(got.filter((part) => part instanceof vscode.LanguageModelToolCallPart).length, 0);
      }),
  ],
  [
    "empty answers are explained",
    () =>
      all(["sluice/empty", "sluice/thinking-only"], async (id) => {
        readable(await failure(parts(id, PROMPT)));
      }),
  ],
  [
    "parts before a failure are kept",
    () =>
      all(["incomplete", "content-filter", "failed", "error"], async (name) => {
        const got = [];
        readable(await failure(parts(`sluice/${name}+pace=60`, PROMPT, {}, undefined, (part) => got.push(part))));
        assert.deepEqual(said(got), [{ text: "This answer is cut off in the middle of a" }]);
      }),
  ],
  [
    "a silent server can be cancelled",
    () =>
      each("cancelled", async (id) => {
        const source = new vscode.CancellationTokenSource();
        const answer = parts(id, PROMPT, {}, source.token).catch(() => undefined);
        await until("the request has come", async () => (await seen(id)).length > 0);
        source.cancel();
        await answer;
        await until("the connection is closed", async () => (await seen(id)).at(-1).hungUp);
      }),
  ],
  [
    "there is a check for every fault",
    () => {
      const names = Object.values(kinds).flatMap(({ faults }) => (Array.isArray(faults) ? faults : Object.keys(faults)));
      const checked = new Set(names.map((name) => name.split("=")[0]));
      assert.deepEqual(
        process.env.SLUICE_E2E_CATALOGUE.split(",").filter((name) => !checked.has(name)),
        [],
      );
    },
  ],
];
