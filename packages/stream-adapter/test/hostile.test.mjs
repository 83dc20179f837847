// What a hostile server, a broken provider or a careless caller can pass in. Every stream ends with a named outcome,
// none hangs, none delivers parts that the model didn't send, and the logger never gets what the user or the model
// said.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { OpenResponsesStreamAdapter, SluiceStreamError, VSCodeStreamAdapter } from "../dist/index.mjs";
import { quiet, shown, vscode } from "./vscode.mjs";

/** Reads a stream, and returns how it ended and what was logged. It never rejects. */
async function outcomeOf(source, { Adapter = VSCodeStreamAdapter, token, ...options } = {}) {
  const logged = [];
  const log = (...args) => void logged.push(args);
  const adapter = new Adapter({ vscode, logger: { debug: log, warn: log, error: log }, ...options });
  const parts = [];
  const run = adapter.processStream(source, { report: (part) => parts.push(part) }, token);
  const error = await run.then(
    () => undefined,
    (thrown) => thrown,
  );
  return { parts: shown(parts), error, message: error?.message, outcome: adapter.getOutcome(), logged };
}

const finish = { type: "finish", finishReason: "stop" };
const call = (input) => ({ type: "tool-call", toolCallId: "c", toolName: "f", input });

/** Returns a function that throws this value whenever it is called. */
const thrower = (value) => () => {
  throw value;
};
const rejecter = (value) => () => Promise.reject(value);
const refuse = thrower(new Error("SECRET"));

function revoked(target = {}) {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

function throwing(name, rest = {}) {
  return Object.defineProperty({ ...rest }, name, { enumerable: true, get: refuse });
}

function nested(depth) {
  let value = 1;
  for (let level = 0; level < depth; level++) value = { value };
  return value;
}

/** Returns an object that contains itself 2^levels times. */
function shared(levels) {
  let value = { leaf: 1 };
  for (let level = 0; level < levels; level++) value = { left: value, right: value };
  return value;
}

function cyclic() {
  const value = { a: 1 };
  value.self = [value];
  return value;
}

/** Returns one value at first and another one afterwards. */
function fickle(first, then) {
  let asked = 0;
  return {
    type: "text-delta",
    get text() {
      return asked++ === 0 ? first : then;
    },
  };
}

describe("chunks that cannot be read", () => {
  const unusable = /call to the tool "f" has arguments that are not a JSON object/;
  const inputs = {
    "a cycle": cyclic(),
    "a cycle through toJSON": {
      toJSON() {
        return { again: this };
      },
    },
    "more than 100 levels": nested(101),
    "a getter that throws": throwing("path"),
    "a getter that throws, deep inside": { a: [{ b: throwing("path") }] },
    "a toJSON that throws": { toJSON: refuse },
    "a revoked proxy": revoked(),
    "a revoked proxy of an array": { list: revoked([]) },
    "a proxy that refuses": new Proxy({}, { ownKeys: refuse }),
    "four billion holes": { list: new Array(2 ** 32 - 1) },
    "an array whose length is no number": new Proxy([], { get: (list, name) => (name === "length" ? NaN : list[name]) }),
    "an array with less than no elements": new Proxy([], { get: (list, name) => (name === "length" ? -1e9 : list[name]) }),
    "an object that stands for 16 million": shared(24),
    "a map with objects as keys": new Map([[{}, 1]]),
    "a map that is none": Object.create(Map.prototype),
    "more text than a chunk may hold": { a: "x".repeat(65 << 20) },
    "more bytes than a chunk may hold": { a: new Uint8Array(64 << 20) },
    "a buffer that was given away": (() => {
      const bytes = new Uint8Array(8);
      structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
      return {
        get bytes() {
          return new DataView(bytes.buffer);
        },
      };
    })(),
  };
  for (const [name, input] of Object.entries(inputs)) {
    test(`tool input: ${name}`, async () => {
      const { parts, message, outcome, logged } = await outcomeOf([call(input), finish]);
      assert.deepEqual(parts, []);
      assert.match(message, unusable);
      assert.equal(outcome.status, "failed");
      assert.equal(outcome.error.tool, "f");
      assert.ok(!JSON.stringify(logged).includes("SECRET"));
      assert.match(logged.join("\n"), /cannot be read: its field input/);
    });
  }

  test("tool inputs that JSON can express are unchanged", async () => {
    const infinite = new Set([1]);
    infinite[Symbol.iterator] = function* () {
      for (;;) yield 1;
    };
    const inputs = [
      [nested(99), nested(99)],
      [{ twice: shared(3) }, { twice: shared(3) }],
      [
        { a: new String("x"), b: new Number(1), c: new Boolean(false) },
        { a: "x", b: 1, c: false },
      ],
      [{ infinite }, { infinite: [1] }],
      [JSON.parse('{"__proto__":{"a":1},"constructor":2}'), JSON.parse('{"__proto__":{"a":1},"constructor":2}')],
      [Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
      [{ [Symbol.toStringTag]: "ArrayBuffer", length: 4e9 }, { length: 4e9 }],
      [{ [Symbol("s")]: 1, a: 1 }, { a: 1 }],
      // No file and no request can contain half a character, so it becomes the replacement character.
      [{ half: "\ud800" }, { half: "\ufffd" }],
    ];
    for (const [input, expected] of inputs) {
      const { parts, message } = await outcomeOf([call(input), finish]);
      assert.equal(message, undefined);
      assert.equal(JSON.stringify(parts[0].input), JSON.stringify(expected));
    }
  });

  const chunks = {
    "a revoked proxy": revoked(),
    "a proxy that refuses": new Proxy({}, { get: refuse }),
    "a proxy whose fields are not listed": new Proxy({}, { get: (_, name) => ({ type: "tool-call", toolName: "f", input: {} })[name] }),
    "a type that throws": throwing("type"),
    "a text that throws": throwing("text", { type: "text-delta" }),
    "a name that throws": throwing("toolName", { type: "tool-call", toolCallId: "c", input: {} }),
    "an error that throws": throwing("error", { type: "error" }),
    "a toJSON that throws": { type: "error", toJSON: refuse },
    "an error whose message throws": { type: "error", error: throwing("message", new Error()) },
    "an Error object whose message throws": {
      type: "error",
      error: Object.defineProperty(new Error("x"), "message", { get: refuse }),
    },
    "an error that is a revoked proxy": { type: "error", error: revoked() },
    "an error that contains itself": { type: "error", error: cyclic() },
    "an error that is 16 million objects": { type: "error", error: shared(24) },
    "an instance of a class": new (class {
      get type() {
        return "error";
      }
      get error() {
        return "boom";
      }
    })(),
    "a text of 65 MiB": { type: "text-delta", text: "x".repeat(65 << 20) },
  };
  for (const [name, chunk] of Object.entries(chunks)) {
    test(`never ends as completed: ${name}`, async () => {
      for (const stream of [
        [chunk, finish],
        [{ type: "text-delta", text: "a" }, chunk, finish],
      ]) {
        const { parts, error, outcome, logged } = await outcomeOf(stream);
        assert.equal(outcome.status, "failed");
        assert.ok(SluiceStreamError.is(error), `${error}`);
        assert.ok(error.message.length < 200, error.message);
        assert.deepEqual(parts, stream.length === 3 ? [{ text: "a" }] : []);
        assert.ok(!`${error.message}${JSON.stringify(logged)}`.includes("SECRET"));
      }
    });
  }

  test("a getter that changes its result is read once", async () => {
    for (const then of [12n, cyclic(), shared(24), undefined]) {
      assert.deepEqual((await outcomeOf([fickle("a", then), finish])).parts, [{ text: "a" }]);
    }
  });

  test("data that isn't for VS Code may be anything", async () => {
    for (const value of [cyclic(), shared(24), revoked(), nested(1000), throwing("a"), { big: 1n, f() {}, s: Symbol() }]) {
      const { parts, message } = await outcomeOf([
        { type: "raw", rawValue: value },
        { type: "tool-call", toolCallId: "c", toolName: "f", input: { a: 1 } },
        { type: "tool-result", toolCallId: "d", toolName: "g", output: value },
        { type: "start-step", request: value, warnings: value },
        { type: "finish-step", providerMetadata: value, response: value },
        { ...finish, totalUsage: value },
      ]);
      assert.equal(message, undefined);
      assert.deepEqual(parts, [{ call: "f", id: "c", input: { a: 1 } }]);
    }
  });

  test("parsed events of Open Responses that can't be read", async () => {
    const done = { type: "response.completed", response: { id: "r" } };
    const item = throwing("arguments", { type: "function_call", call_id: "c", name: "f" });
    for (const event of [revoked(), { type: "response.output_item.done", output_index: 0, item }, { type: "x", a: cyclic() }]) {
      const { message, outcome } = await outcomeOf([event, done], { Adapter: OpenResponsesStreamAdapter });
      assert.equal(message, "A part of the answer cannot be read");
      assert.equal(outcome.status, "failed");
    }
  });
});

describe("files", () => {
  const file = (mediaType, base64 = "e30=") => ({ type: "file", file: { mediaType, base64 } });

  test("cannot be VS Code's own data parts", async () => {
    const control = [
      "usage",
      "stateful_marker",
      "cache_control",
      "thinking",
      "context_management",
      "phase_data",
      "Usage",
      " usage ",
      "usage\n",
      "usage;a/b",
      "usage; charset=x/y",
      "/usage",
      "usage/",
      "a/ usage",
      "",
      "\u0000usage",
    ];
    for (const name of control) {
      const chunks = [
        file(name),
        { type: "file", mediaType: name, url: "data:;base64,e30=" },
        { type: "file", url: `data:${name};base64,e30=` },
      ];
      for (const chunk of chunks) {
        const { parts, message } = await outcomeOf([chunk, finish]);
        assert.equal(message, undefined);
        for (const part of parts) {
          assert.match(part.data, /^[a-z]+\/[a-z-]+/, `${JSON.stringify(name)} became ${part.data}`);
        }
      }
    }
  });

  test("that are not base64 are left out, and the answer continues", async () => {
    for (const base64 of ["A", "AAAAA", "=AAA", "A=AA", "====", "é", "AA==AA==", "%%%%"]) {
      const { parts, message, outcome } = await outcomeOf([file("image/png", base64), { type: "text-delta", text: "a" }, finish]);
      assert.equal(message, undefined, base64);
      assert.equal(parts.at(-1).text, "a");
      assert.equal(outcome.status, "completed");
    }
  });

  test("of deeply nested JSON are passed on unchanged", async () => {
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    const parts = [];
    const adapter = new VSCodeStreamAdapter({ vscode, logger: quiet });
    await adapter.processStream([file("application/json", btoa(deep)), finish], { report: (part) => parts.push(part) });
    assert.equal(new TextDecoder().decode(parts[0].data), deep);
  });
});

describe("the logger", () => {
  const said = ["PROMPT-CANARY", "REPLY-CANARY", "KEY-CANARY"];
  const apiError = () =>
    Object.assign(new Error("REPLY-CANARY"), {
      name: "AI_APICallError",
      statusCode: 429,
      url: "https://a.example/?key=KEY-CANARY",
      requestBodyValues: { messages: ["PROMPT-CANARY"] },
      responseBody: "REPLY-CANARY",
      cause: Object.assign(new Error("PROMPT-CANARY"), { code: "ECONNRESET" }),
    });

  test("never gets what the user or the model said", async () => {
    async function* breaking() {
      yield { type: "text-delta", text: "REPLY-CANARY" };
      throw apiError();
    }
    const text = { type: "text-delta", text: "REPLY-CANARY" };
    const sse = (event) => [`data: ${JSON.stringify(event)}\n\n`];
    const streams = [
      [breaking()],
      [[text, { type: "error", error: apiError() }]],
      [[text, call({ a: "REPLY-CANARY", b: throwing("c") }), finish]],
      [[text, call("REPLY-CANARY"), finish]],
      [[{ type: "PROMPT-CANARY is unknown" }, { ...finish, finishReason: "REPLY-CANARY said so" }]],
      [[{ type: "x" }, finish], { onUnknownChunk: thrower(apiError()) }],
      [[{ type: "x" }, finish], { onUnknownChunk: rejecter(apiError()) }],
      [new Response("REPLY-CANARY", { status: 500 })],
      [sse({ type: "response.failed", response: { error: { message: "REPLY-CANARY" } } }), { Adapter: OpenResponsesStreamAdapter }],
      [
        sse({ type: "response.incomplete", response: { incomplete_details: { reason: "REPLY-CANARY, word for word" } } }),
        { Adapter: OpenResponsesStreamAdapter },
      ],
      [["data: REPLY-CANARY\n\n", "event: PROMPT CANARY\ndata: {}\n\n"], { Adapter: OpenResponsesStreamAdapter }],
    ];
    for (const [stream, options] of streams) {
      const { logged } = await outcomeOf(stream, options);
      await new Promise(setImmediate);
      assert.ok(
        logged.every((args) => args.length === 1 && typeof args[0] === "string" && args[0].length < 300),
        JSON.stringify(logged),
      );
      // Protocol terms, such as the type of an unknown chunk, are logged without spaces, so that prose never gets
      // through intact.
      const words = said.filter((canary) => logged.join().includes(`${canary} `) || logged.join().includes(`, ${canary}`));
      assert.deepEqual(words, []);
      if (stream[Symbol.asyncIterator]) {
        assert.deepEqual(logged, [["the stream broke: AI_APICallError, 429, Error, ECONNRESET"]]);
      }
    }
  });

  test("may throw, synchronously or later, or be absent", async () => {
    const fail = thrower(new Error("no disk"));
    const later = rejecter(new Error("no disk"));
    for (const logger of [{ debug: fail, warn: fail, error: fail }, { debug: later, warn: later, error: later }, {}]) {
      const { parts, message } = await outcomeOf(
        [{ type: "x" }, null, { type: "text-delta", text: "a" }, { ...finish, finishReason: "length" }],
        { logger },
      );
      assert.equal(message, undefined);
      assert.deepEqual(parts, [{ text: "a" }]);
      const broken = new ReadableStream({ pull: rejecter(new Error("gone")) });
      assert.equal((await outcomeOf(broken, { logger })).message, "The answer broke off: gone");
    }
  });

  test("is not flooded", async () => {
    const { logged } = await outcomeOf([..."x".repeat(5000)].map(() => ({ type: "x" })).concat(finish));
    assert.ok(logged.length <= 202, `${logged.length} lines`);
    assert.match(logged.at(-2)[0], /not logged/);
    assert.match(logged.at(-1)[0], /empty answer/);
  });
});

describe("sources", () => {
  /** A body of any length, delivered as fast as it is read, and how much of it was read. */
  function body(pieces, piece = "x".repeat(64 << 10)) {
    const state = { read: 0, cancelled: false };
    const stream = new ReadableStream(
      {
        pull(controller) {
          if (state.read === pieces) return controller.close();
          state.read++;
          controller.enqueue(new TextEncoder().encode(piece));
        },
        cancel: () => void (state.cancelled = true),
      },
      { highWaterMark: 0 },
    );
    return { stream, state };
  }

  test("only the beginning of an error's body is read", async () => {
    const { stream, state } = body(Infinity);
    const { error, outcome } = await outcomeOf(new Response(stream, { status: 500 }), { Adapter: OpenResponsesStreamAdapter });
    assert.equal(outcome.status, "failed");
    assert.equal(error.failure.status, 500);
    assert.ok(state.read < 10 && state.cancelled, JSON.stringify(state));
  });

  test("a body that breaks off still reports its status", async () => {
    const broken = new ReadableStream({ pull: (controller) => controller.error(new Error("gone")) });
    const { error } = await outcomeOf(new Response(broken, { status: 503 }));
    assert.equal(error.failure.status, 503);
  });

  const never = () => new Promise(() => {});
  const silent = {
    "a promise that never comes": () => never(),
    "a stream without a word": () => new ReadableStream({}),
    "an iterator without a word": () => ({ [Symbol.asyncIterator]: () => ({ next: never, return: never }) }),
    "an error without a body": () => new Response(new ReadableStream({}), { status: 500 }),
    "an endless generator": function* () {
      for (;;) yield { type: "start" };
    },
    "an endless stream of text": async function* () {
      for (;;) yield { type: "text-delta", text: "" };
    },
    "an endless stream of nothing": function* () {
      for (;;) yield new Uint8Array(0);
    },
  };
  for (const [name, source] of Object.entries(silent)) {
    test(`can be cancelled: ${name}`, async () => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(), 1);
      const { message, parts } = await outcomeOf(source(), { token: controller.signal });
      assert.equal(message, undefined);
      assert.deepEqual(parts, []);
    });
  }

  test("a source that arrives after the cancellation is stopped", async () => {
    let give;
    const { stream, state } = body(10);
    const source = new Promise((resolve) => (give = resolve));
    await outcomeOf(source, { token: AbortSignal.abort() });
    give(new Response(stream));
    await new Promise(setImmediate);
    assert.ok(state.cancelled);
  });

  test("that violate their contract end with a named error", async () => {
    const iterator = (next, more = {}) => ({ [Symbol.asyncIterator]: () => ({ next, ...more }) });
    const sources = [
      iterator(() => null),
      iterator(() => 5 && undefined),
      iterator(async () => throwing("done")),
      iterator(async () => throwing("value", { done: false })),
      iterator(thrower(null)),
      iterator(thrower(revoked())),
      iterator(thrower(throwing("message"))),
      iterator(thrower(Symbol("s"))),
    ];
    for (const source of sources) {
      const { error, outcome } = await outcomeOf(source);
      assert.ok(SluiceStreamError.is(error), `${error}`);
      assert.equal(outcome.status, "truncated");
    }
    for (const stop of [thrower(new Error("no")), rejecter(new Error("no"))]) {
      const { message } = await outcomeOf(iterator(() => ({ done: true }), { return: stop }));
      assert.equal(message, undefined);
    }
    const itself = {};
    itself.fullStream = itself;
    for (const source of [itself, null, undefined, Symbol("s"), () => {}]) {
      assert.equal((await outcomeOf(source)).error.constructor.name, "TypeError");
    }
    // Not even a promise can be made of it, so it counts as a request that failed.
    assert.ok(SluiceStreamError.is((await outcomeOf(revoked())).error));
  });

  test("one hostile stream does not end the others", async () => {
    const adapter = new VSCodeStreamAdapter({ vscode, logger: quiet });
    let go;
    const gate = new Promise((resolve) => (go = resolve));
    async function* patient(n) {
      yield { type: "text-delta", text: `a${n}` };
      await gate;
      yield { type: "text-delta", text: `b${n}` };
      yield finish;
    }
    const others = Array.from({ length: 20 }, async (_, n) => {
      let text = "";
      await adapter.processStream(patient(n), { report: ({ value }) => (text += value) });
      return text === `a${n}b${n}`;
    });
    // Endless arguments: as much as the core accepts, and more than fits into one instance.
    async function* hostile() {
      yield { type: "tool-input-start", id: "c", toolName: "f" };
      for (;;) yield { type: "tool-input-delta", id: "c", delta: "x".repeat(16 << 20) };
    }
    const { error, outcome } = await outcomeOf(hostile());
    assert.equal(outcome.error.kind, "tooLarge");
    assert.match(error.message, /too large|larger|more than/i);
    go();
    assert.ok((await Promise.all(others)).every(Boolean));
    assert.deepEqual((await outcomeOf([{ type: "text-delta", text: "next" }, finish])).parts, [{ text: "next" }]);
  });
});
