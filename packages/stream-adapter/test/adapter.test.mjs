// Uses the adapters as a provider would, with mocks of VS Code's classes.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe, test } from "node:test";

import * as esm from "../dist/index.mjs";
import { LanguageModelTextPart, LanguageModelToolCallPart, quiet, shown, vscode } from "./vscode.mjs";

const { OpenResponsesStreamAdapter, VSCodeStreamAdapter } = esm;

async function* streamOf(...chunks) {
  yield* chunks;
}

async function read(source, options = {}, Adapter = VSCodeStreamAdapter) {
  const adapter = new Adapter({ vscode, logger: quiet, ...options });
  const parts = [];
  const usage = await adapter.processStream(source, { report: (part) => parts.push(part) });
  return { parts: shown(parts), usage, outcome: adapter.getOutcome() };
}

const finish = { type: "finish", finishReason: "stop", totalUsage: { inputTokens: 10, outputTokens: 5 } };

describe("VSCodeStreamAdapter", () => {
  test("with reportUsage VS Code's chat is told what the server counted", async () => {
    const adapter = new VSCodeStreamAdapter({ vscode, logger: quiet, reportUsage: true });
    const parts = [];
    await adapter.processStream(streamOf({ type: "text-delta", id: "t", text: "Hi" }, finish), { report: (part) => parts.push(part) });
    assert.equal(parts.at(-1).mimeType, "usage");
    assert.deepEqual(JSON.parse(new TextDecoder().decode(parts.at(-1).data)), {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
    });
  });

  test("paced text is joined, and reported while the source is silent", async () => {
    for (const iterates of [false, true]) {
      let showTwo;
      const twoIsShown = new Promise((resolve) => (showTwo = resolve));
      async function* source() {
        yield { type: "text-delta", id: "t", text: "one " };
        yield { type: "text-delta", id: "t", text: "tw" };
        yield { type: "text-delta", id: "t", text: "o " };
        await twoIsShown;
        yield { type: "text-delta", id: "t", text: "three" };
        yield finish;
      }
      const adapter = new VSCodeStreamAdapter({ vscode, logger: quiet, pace: "chatView" });
      const texts = [];
      const report = ({ value }) => {
        texts.push(value);
        if (texts.length === 2) showTwo();
      };
      if (iterates) {
        for await (const part of adapter.adaptStream(source())) report(part);
      } else {
        await adapter.processStream(source(), { report });
      }
      assert.deepEqual(texts, ["one ", "two ", "three"]);
    }
  });

  test("text, reasoning, calls, files, sources and usage are reported", async () => {
    const { parts, usage } = await read(
      streamOf(
        { type: "start" },
        { type: "reasoning-delta", id: "r", text: "Hmm" },
        { type: "text-delta", id: "t", text: "Hel" },
        { type: "text-delta", id: "t", textDelta: "lo" },
        { type: "tool-call", toolCallId: "call_1", toolName: "read_file", input: { path: "a" } },
        { type: "file", file: { mediaType: "image/png", uint8Array: new Uint8Array([137, 80]) } },
        { type: "source", sourceType: "url", id: "1", url: "https://a.example", title: "A" },
        { type: "data-note", data: { a: [1] } },
        finish,
      ),
    );
    assert.deepEqual(parts, [
      { thinking: "Hmm" },
      { text: "Hello" },
      { data: "image/png", content: [137, 80] },
      {
        data: "application/vnd.vscode.citation+json",
        content: { type: "citation", sourceType: "url", sourceId: "1", url: "https://a.example", title: "A" },
      },
      { data: "application/vnd.vercel.note+json", content: { a: [1] } },
      // Calls come at the end of their step.
      { call: "read_file", id: "call_1", input: { path: "a" } },
    ]);
    assert.deepEqual(usage, { inputTokens: 10, outputTokens: 5 });
  });

  test("every kind of source is read: iterables, streams, results, promises, bodies", async () => {
    const chunks = [{ type: "text-delta", text: "a" }, { type: "text-delta", delta: "b" }, finish];
    const sse = [...chunks.map((chunk) => JSON.stringify(chunk)), "[DONE]"].map((data) => `data: ${data}\n\n`).join("");
    const bytes = new TextEncoder().encode(sse);
    const sources = {
      array: chunks,
      "async iterable": streamOf(...chunks),
      "ReadableStream of chunks": ReadableStream.from(chunks),
      "a result of streamText": { fullStream: streamOf(...chunks) },
      promise: Promise.resolve(chunks),
      Response: new Response(sse, { headers: { "content-type": "text/event-stream" } }),
      "ReadableStream of bytes": new Response(sse).body,
      "bytes one by one": streamOf(...[...bytes].map((byte) => Uint8Array.of(byte))),
      "strings one unit each": streamOf(...sse.split("")),
      ArrayBuffer: streamOf(bytes.buffer),
    };
    for (const [name, source] of Object.entries(sources)) {
      const { parts, usage } = await read(source);
      assert.deepEqual(parts, [{ text: "ab" }], name);
      assert.deepEqual(usage, { inputTokens: 10, outputTokens: 5 }, name);
    }
    await assert.rejects(read(5), /Not a stream/);
    await assert.rejects(read({}), /Not a stream/);
  });

  test("adaptStream returns the same parts, and leaving it early stops the source", async () => {
    let stopped = false;
    async function* endless() {
      try {
        for (;;) yield { type: "text-delta", text: "a" };
      } finally {
        stopped = true;
      }
    }
    const adapter = new VSCodeStreamAdapter({ vscode, logger: quiet });
    const parts = [];
    for await (const part of adapter.adaptStream(endless())) {
      parts.push(part);
      if (parts.length === 3) break;
    }
    assert.ok(parts.every((part) => part instanceof LanguageModelTextPart));
    assert.ok(stopped);
    assert.equal(adapter.getOutcome().status, "cancelled");

    const failing = adapter.adaptStream(streamOf({ type: "text-delta", text: "a" }, { type: "error", error: new Error("boom") }));
    assert.equal((await failing.next()).value.value, "a");
    await assert.rejects(failing.next(), { message: "boom" });
  });

  test("unknown chunks go to the callback, never to the output", async () => {
    const unknown = [];
    const cyclic = { type: "from-the-future" };
    cyclic.self = cyclic;
    const odd = [cyclic, { type: "tool-input-whatever" }, null, 5, { no: "type" }];
    const { parts } = await read([...odd, { type: "raw", rawValue: {} }, { type: "start-step" }, finish], {
      onUnknownChunk: (chunk) => {
        unknown.push(chunk);
        throw new Error("a callback's own problem");
      },
    });
    assert.deepEqual(parts, []);
    assert.deepEqual(unknown, odd);
    const fromBody = [];
    await read(streamOf('data: {"type":"from-the-future"}\n\ndata: [DONE]\n\n'), { onUnknownChunk: (chunk) => fromBody.push(chunk) });
    assert.deepEqual(fromBody, [{ type: "from-the-future" }]);
  });

  test("values that JSON can't express are handled", async () => {
    class File {
      #bytes = new Uint8Array([104, 105]);
      mediaType = "text/plain";
      get base64() {
        return btoa(String.fromCharCode(...this.#bytes));
      }
      get uint8Array() {
        return this.#bytes;
      }
    }
    const input = {
      date: new Date(0),
      url: new URL("https://a.example/"),
      big: 12n,
      huge: 2n ** 64n,
      nothing: undefined,
      not: NaN,
      map: new Map([["a", 1]]),
      set: new Set([1]),
      bytes: new Uint8Array([1, 2]),
      nested: [undefined, () => {}],
    };
    const { parts } = await read([
      { type: "file", file: new File() },
      { type: "file", mediaType: "text/plain", data: Buffer.from("hi") },
      { type: "tool-call", toolCallId: "c", toolName: "f", input },
      finish,
    ]);
    assert.deepEqual(parts.slice(0, 2), [
      { data: "text/plain", content: "hi" },
      { data: "text/plain", content: "hi" },
    ]);
    assert.deepEqual(parts[2].input, {
      date: "1970-01-01T00:00:00.000Z",
      url: "https://a.example/",
      big: 12,
      huge: "18446744073709551616",
      not: null,
      map: { a: 1 },
      set: [1],
      bytes: "AQI=",
      nested: [null, null],
    });
  });

  test("errors reject with a short message, and earlier parts stay", async () => {
    const reject = async (error, expected) => {
      const parts = [];
      const adapter = new VSCodeStreamAdapter({ vscode, logger: quiet });
      const run = adapter.processStream(streamOf({ type: "text-delta", text: "a" }, { type: "error", error }, finish), {
        report: (part) => parts.push(part),
      });
      const thrown = await run.then(
        () => assert.fail("resolved"),
        (thrown) => thrown,
      );
      assert.ok(esm.SluiceStreamError.is(thrown));
      assert.equal(thrown.message, expected);
      assert.ok(!thrown.stack.includes("\n"));
      assert.equal(parts.length, 1);
      return thrown;
    };
    await reject("boom", "boom");
    await reject(new Error("boom"), "boom");
    await reject({ message: "boom", code: "server_error" }, "boom");
    await reject(undefined, "The server reported an error without saying which.");
    const api = Object.assign(new Error("Bad"), {
      name: "AI_APICallError",
      statusCode: 401,
      requestBodyValues: { messages: "secret" },
      responseBody: '{"error":{"message":"Invalid key sk-abcdefghijklmnop","type":"authentication_error"}}',
    });
    const thrown = await reject(Object.assign(new Error("Failed after 3 attempts"), { lastError: api }), "Invalid key [hidden]");
    assert.equal(thrown.failure.kind, "signIn");
    assert.equal(thrown.failure.status, 401);
  });

  test("a source that breaks or ends inside a text rejects", async () => {
    async function* breaking() {
      yield { type: "text-delta", text: "a" };
      throw new Error("socket hang up\n    at nowhere");
    }
    await assert.rejects(read(breaking()), { message: "The answer broke off: socket hang up" });
    await assert.rejects(read([{ type: "text-start", id: "0" }]), /broke before the answer was complete/);
    await assert.rejects(read(streamOf('data: {"type":"text-delta","delta":"a"}\n\n')), /broke before the answer was complete/);
  });

  test("a streamed call without its final chunk is reported, a truncated one is not", async () => {
    const start = { type: "tool-call-streaming-start", toolCallId: "c", toolName: "f" };
    const whole = await read([start, { type: "tool-call-delta", toolCallId: "c", argsTextDelta: '{"a":1}' }]);
    assert.deepEqual(whole.parts, [{ call: "f", id: "c", input: { a: 1 } }]);
    await assert.rejects(read([start, { type: "tool-call-delta", toolCallId: "c", argsTextDelta: '{"a":' }]));
    await assert.rejects(
      read([start, { type: "tool-call-delta", toolCallId: "c", argsTextDelta: '{"a":' }, finish]),
      /"f" was not finished/,
    );
  });

  test("cancellation: a token, a signal, the SDK's abort", async () => {
    const parts = [];
    const listeners = new Set();
    const token = {
      isCancellationRequested: false,
      onCancellationRequested(listener) {
        listeners.add(listener);
        return { dispose: () => listeners.delete(listener) };
      },
    };
    let stopped = false;
    // After its first chunk, this source never delivers anything and would wait forever.
    const silent = new ReadableStream({
      start: (controller) => controller.enqueue({ type: "text-delta", text: "a" }),
      cancel: () => void (stopped = true),
    });
    const adapter = new VSCodeStreamAdapter({ vscode, logger: quiet });
    const report = (part) => {
      parts.push(part);
      queueMicrotask(() => {
        token.isCancellationRequested = true;
        listeners.forEach((listener) => listener());
      });
    };
    assert.deepEqual(await adapter.processStream(silent, { report }, token), { inputTokens: null, outputTokens: null });
    assert.equal(parts.length, 1);
    assert.ok(stopped);
    assert.equal(listeners.size, 0);

    const never = { report: () => assert.fail("a part after the cancellation") };
    await adapter.processStream(streamOf({ type: "text-delta", text: "a" }), never, AbortSignal.abort());
    await adapter.processStream([{ type: "abort" }, { type: "text-delta", text: "a" }], never);
    assert.equal(adapter.getOutcome().status, "cancelled");
    const running = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose() {} }) };
    await assert.rejects(adapter.processStream([{ type: "abort" }], never, running), { message: "The answer was aborted." });
  });

  test("text that the pace has held back is reported when the answer is cancelled", async () => {
    for (const pace of ["immediate", "steady", "chatView"]) {
      const controller = new AbortController();
      const deltas = ["One ", "two ", "three ", "four ", "five"].map((text) => ({ type: "text-delta", text }));
      let sent = 0;
      // Nothing is read ahead, so the answer is cancelled when all of it has arrived.
      const pull = (stream) => (sent < deltas.length ? stream.enqueue(deltas[sent++]) : controller.abort());
      const source = new ReadableStream({ pull }, { highWaterMark: 0 });
      let text = "";
      const adapter = new VSCodeStreamAdapter({ vscode, logger: quiet, pace });
      await adapter.processStream(source, { report: (part) => void (text += part.value) }, controller.signal);
      assert.deepEqual([pace, text, adapter.getOutcome().status], [pace, "One two three four five", "cancelled"]);
    }
  });

  test("reasoning can be left out, by choice or because VS Code has no class for it", async () => {
    const chunks = [{ type: "reasoning-delta", id: "r", delta: "Hmm" }, { type: "text-delta", text: "a" }, finish];
    assert.deepEqual((await read(chunks)).parts, [{ thinking: "Hmm" }, { text: "a" }]);
    assert.deepEqual((await read(chunks, { enableReasoning: false })).parts, [{ text: "a" }]);
    const old = { LanguageModelTextPart, LanguageModelToolCallPart };
    const more = [...chunks.slice(0, 2), { type: "file", mediaType: "image/png", data: "iVBORw0KGgo=" }, finish];
    const said = [];
    const logger = { ...quiet, debug: (message) => said.push(message) };
    assert.deepEqual((await read(more, { vscode: old, logger })).parts, [{ text: "a" }]);
    assert.equal(said.length, 2);
  });

  test("without VS Code's classes the error says what to do", async () => {
    await assert.rejects(read([finish], { vscode: undefined }), /Pass the module as an option: \{ vscode \}/);
  });

  test("one adapter reads many streams, even at the same time", async () => {
    const adapter = new VSCodeStreamAdapter({ vscode, logger: quiet });
    const texts = await Promise.all(
      Array.from({ length: 20 }, async (_, n) => {
        let text = "";
        const chunks = [..."abc"].map((letter) => ({ type: "text-delta", text: `${letter}${n}` }));
        await adapter.processStream(streamOf(...chunks, finish), { report: ({ value }) => (text += value) });
        return text === `a${n}b${n}c${n}`;
      }),
    );
    assert.ok(texts.every(Boolean));
  });

  test("call ids are the SDK's own, unless asked otherwise", async () => {
    const chunks = [{ type: "tool-call", toolCallId: "call_1", toolName: "f", input: {} }, finish];
    assert.equal((await read(chunks)).parts[0].id, "call_1");
    assert.equal((await read(chunks, { prefixCallIds: true })).parts[0].id, "gw-call_1");
  });
});

describe("OpenResponsesStreamAdapter", () => {
  const events = [
    { type: "response.output_text.delta", output_index: 0, delta: "Hi 😀" },
    {
      type: "response.output_item.done",
      output_index: 1,
      item: { type: "function_call", call_id: "call_1", name: "f", arguments: '{"a":1}', status: "completed" },
    },
    { type: "response.completed", response: { id: "r", usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 } } },
  ];
  const sse = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  const expected = [{ text: "Hi 😀" }, { call: "f", id: "gw-call_1", input: { a: 1 } }];

  test("a Response, bytes, strings split inside a character and parsed events are read", async () => {
    for (const source of [new Response(sse), new Response(sse).body, [sse], sse.split(""), streamOf(...events), sse]) {
      const { parts, usage } = await read(source, {}, OpenResponsesStreamAdapter);
      assert.deepEqual(parts, expected);
      assert.deepEqual(usage, { inputTokens: 3, outputTokens: 2 });
    }
  });

  test("a response that is not an answer", async () => {
    const body = '{"error":{"message":"Slow down","type":"rate_limit_exceeded"}}';
    const run = read(new Response(body, { status: 429, headers: { "retry-after": "3" } }), {}, OpenResponsesStreamAdapter);
    const thrown = await run.catch((error) => error);
    assert.equal(thrown.message, "Slow down");
    assert.equal(thrown.failure.retryAfterMs, 3000);
    const html = new Response("<html>hi</html>", { headers: { "content-type": "text/html" } });
    await assert.rejects(read(html, {}, OpenResponsesStreamAdapter), /not an event stream/);
  });

  test("a whole answer in JSON is an answer too, but not of the AI SDK", async () => {
    const message = { type: "message", role: "assistant", content: [{ type: "output_text", text: "Hi" }] };
    const whole = () => Response.json({ id: "r", object: "response", status: "completed", output: [message] });
    assert.deepEqual((await read(whole(), {}, OpenResponsesStreamAdapter)).parts, [{ text: "Hi" }]);
    await assert.rejects(read(whole()), /not an event stream/);
    await assert.rejects(read(Response.json({ hello: 1 }), {}, OpenResponsesStreamAdapter), /not an event stream/);
  });

  test("an answer that was cut off is given as it is, and the log says so", async () => {
    const warned = [];
    const cut = [events[0], { type: "response.incomplete", response: { incomplete_details: { reason: "max_output_tokens" } } }];
    const logger = { ...quiet, warn: (text) => warned.push(text) };
    const { parts, outcome } = await read(streamOf(...cut), { logger }, OpenResponsesStreamAdapter);
    assert.deepEqual([parts, outcome.status], [[{ text: "Hi 😀" }], "incomplete"]);
    assert.deepEqual(warned, ['The answer reached the model\'s output limit and is cut off here. Say "go on" to continue.']);
  });

  test("a body without an end", async () => {
    await assert.rejects(read([sse.slice(0, -60)], {}, OpenResponsesStreamAdapter), /broke before the answer was complete/);
  });
});

test("CommonJS gives the same result", async () => {
  const cjs = createRequire(import.meta.url)("../dist/index.cjs");
  assert.deepEqual(Object.keys(cjs).sort(), Object.keys(esm).sort());
  const { parts } = await read([{ type: "text-delta", text: "a" }, finish], {}, cjs.VSCodeStreamAdapter);
  assert.deepEqual(parts, [{ text: "a" }]);
});

test("the entry point for the AI SDK alone gives the same result", async () => {
  const aiSdk = await import("../dist/ai-sdk.mjs");
  assert.deepEqual(Object.keys(aiSdk).sort(), ["SluiceStreamError", "VSCodeStreamAdapter"]);
  const { parts } = await read([{ type: "text-delta", text: "a" }, finish], {}, aiSdk.VSCodeStreamAdapter);
  assert.deepEqual(parts, [{ text: "a" }]);
});

test("the slim entry point needs the core of each adapter", async () => {
  const slim = await import("../dist/slim.mjs");
  const bytes = (name) => readFileSync(new URL(`../dist/${name}`, import.meta.url));
  const chunks = [{ type: "text-delta", text: "a" }, finish];
  const body = 'data: {"type":"response.output_text.delta","delta":"b"}\n\ndata: {"type":"response.completed","response":{}}\n\n';
  await assert.rejects(read(chunks, {}, slim.VSCodeStreamAdapter), /ai-sdk\.wasm/);
  await slim.useCore(bytes("ai-sdk.wasm"));
  assert.deepEqual((await read(chunks, {}, slim.VSCodeStreamAdapter)).parts, [{ text: "a" }]);
  await assert.rejects(read([body], {}, slim.OpenResponsesStreamAdapter), /core\.wasm/);
  await slim.useCore(new WebAssembly.Module(bytes("core.wasm")));
  assert.deepEqual((await read([body], {}, slim.OpenResponsesStreamAdapter)).parts, [{ text: "b" }]);
});
