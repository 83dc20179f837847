// What must hold for the boundary itself, independent of the streams that cross it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CoreError, type Exchange, loadCore, type Outcome } from "../src/core.js";
import { aiSdkWasmBytes, core, run, wasmBytes } from "./support.js";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const delta = (text: string): Uint8Array =>
  encode(`data: ${JSON.stringify({ type: "response.output_text.delta", output_index: 0, delta: text })}\n\n`);
const completed = encode(`data: {"type":"response.completed","response":{"id":"r","usage":null}}\n\n`);

/** Closes an exchange that is over. */
function ended(exchange: Exchange): Outcome {
  const { outcome } = exchange.report!;
  exchange.close();
  return outcome;
}

test("the module imports nothing", () => {
  assert.deepEqual(WebAssembly.Module.imports(new WebAssembly.Module(wasmBytes)), []);
});

test("no function returns a reference", () => {
  const references = new Set([0x6f, 0x70]);
  for (const results of functionResults(wasmBytes)) {
    assert.ok(
      results.every((type) => !references.has(type)),
      "an export that returns an externref can abort Node",
    );
  }
});

test("hundreds of thousands of small pushes survive deoptimization and growing memory", () => {
  const rounds = 40;
  for (let round = 0; round < rounds; round++) {
    const stream = core.openStream();
    let text = "";
    for (let at = 0; at < 10_000; at++) {
      for (const output of stream.handleBytes(delta(at % 100 === 0 ? "ä😀" : "word "))) {
        // A property that comes and goes makes the compiler discard its assumptions.
        text += output.type === "text" ? output.value : "";
        if (at % 997 === 0) {
          (output as { extra?: number }).extra = at;
        }
      }
    }
    // One large event among small ones makes the memory grow, which detaches the views.
    const large = "x".repeat(round * 100_000);
    text += stream
      .handleBytes(delta(large))
      .map((output) => (output.type === "text" ? output.value : ""))
      .join("");
    stream.handleBytes(completed);
    assert.equal(ended(stream).status, "completed");
    assert.equal(text.length, 9_900 * 5 + 100 * 3 + large.length);
  }
});

test("the memory of a large answer is released, and other streams continue", async () => {
  const own = await loadCore(wasmBytes);
  const beside = own.openStream();
  beside.handleBytes(delta("begun "));
  const large = own.openStream();
  large.handleBytes(delta("x".repeat(3 << 20)));
  large.handleBytes(delta("x".repeat(3 << 20)));
  large.handleBytes(completed);
  assert.equal(ended(large).status, "completed");
  assert.ok(own.memoryBytes < 8 << 20, `${own.memoryBytes} bytes are held`);
  assert.deepEqual(beside.handleBytes(delta("and ended")), [{ type: "text", value: "and ended" }]);
  beside.handleBytes(completed);
  assert.equal(ended(beside).status, "completed");
});

test("concurrent streams do not mix", () => {
  const streams = Array.from({ length: 50 }, () => core.openStream());
  const texts = streams.map(() => "");
  for (let at = 0; at < 20; at++) {
    streams.forEach((stream, index) => {
      for (const output of stream.handleBytes(delta(`${index},`))) {
        texts[index] += output.type === "text" ? output.value : "";
      }
    });
  }
  texts.forEach((text, index) => assert.equal(text, `${index},`.repeat(20)));
  for (const stream of streams) {
    stream.cancel();
    assert.equal(ended(stream).status, "cancelled");
  }
});

test("the text of one push is one part, and other parts keep their position", () => {
  const thinking = encode(`data: {"type":"response.reasoning.delta","output_index":1,"item_id":"rs","delta":"hm"}\n\n`);
  const whole = Buffer.concat([delta("a"), delta("ü"), thinking, delta("😀"), delta("b"), completed]);
  // The last part is what the server needs back.
  assert.deepEqual(run([whole]).outputs.slice(0, -1), [
    { type: "text", value: "aü" },
    { type: "thinking", value: "hm", id: "rs" },
    { type: "text", value: "😀b" },
  ]);
});

test("the end of the body is told apart", () => {
  const ends: ((stream: Exchange) => unknown)[] = [
    (stream) => stream.handleEnd(),
    (stream) => stream.cancel(),
    (stream) => stream.handleTimeout(),
    (stream) => stream.handleConnectionError("broken"),
  ];
  const statuses = ends.map((end) => {
    const stream = core.openStream();
    end(stream);
    const { status, reason } = ended(stream);
    return [status, reason];
  });
  assert.deepEqual(statuses, [
    ["truncated", "eof"],
    ["cancelled", null],
    ["truncated", "idle_timeout"],
    ["truncated", "broken"],
  ]);
});

test("a closed exchange says so, and after the end nothing changes", () => {
  const stream = core.openStream();
  stream.handleBytes(completed);
  const { report } = stream;
  assert.deepEqual(stream.handleBytes(delta("more")), []);
  stream.handleConnectionError("broken");
  stream.cancel();
  assert.deepEqual(stream.report, report);
  stream.close();
  assert.throws(() => stream.handleBytes(completed), CoreError);
});

test("an answer that was cancelled before all of it was seen is cancelled", () => {
  const stream = core.openStream();
  stream.handleBytes(Buffer.concat([delta("Hi"), completed]));
  assert.equal(stream.report?.ending.type, "done");
  stream.cancel({ unseenOutputs: true });
  assert.equal(stream.report?.ending.type, "cancelled");
});

test("a whole exchange: sent, refused, sent again without the parameter, read, and reported", () => {
  const exchange = core.openExchange({ origin: "https://a.example", optional: ["caching"], idleTimeoutMs: 1000, random: 0 });
  assert.deepEqual(exchange.action, { type: "send", timeoutMs: 120_000, without: [], url: null });
  exchange.handleHead(400, [["content-type", "application/json"]]);
  assert.deepEqual(exchange.handleBytes(encode(`{"error":{"message":"Unknown parameter: 'caching'."}}`)), []);
  exchange.handleEnd();
  assert.deepEqual(exchange.action, { type: "send", timeoutMs: 120_000, without: ["caching"], url: null });
  exchange.handleConnectionError("connect");
  assert.equal(exchange.action.type === "wait" && exchange.action.failure.message, "No connection to https://a.example.");
  exchange.handleTimeout();
  exchange.handleHead(200, [["content-type", "text/event-stream"]]);
  assert.deepEqual(exchange.action, { type: "read", timeoutMs: 1000 });
  assert.equal(exchange.ledgerEntry, undefined);
  assert.deepEqual(exchange.handleBytes(delta("Hi")), [{ type: "text", value: "Hi" }]);
  exchange.handleBytes(completed);
  const { report } = exchange;
  assert.deepEqual([report?.ending, report?.refused, report?.attempts], [{ type: "done" }, ["caching"], 2]);
  assert.deepEqual((JSON.parse(exchange.ledgerEntry!) as { answer: unknown }).answer, [{ type: "text", value: "Hi" }]);
  exchange.close();
});

test("a stream that exhausts its memory fails alone, with a named error", async () => {
  const own = await loadCore(withMaximumMemory(wasmBytes, 32));
  const beside = Array.from({ length: 20 }, () => own.openStream());
  beside.forEach((stream) => stream.handleBytes(delta("begun ")));
  const tooLarge = (stream: Exchange): void => {
    assert.equal(stream.report?.outcome.status, "failed");
    assert.deepEqual(stream.report.ending, {
      type: "rejected",
      kind: "tooLarge",
      text: [
        { code: "outOfMemory", args: [] },
        { code: "askForShorter", args: [] },
      ],
      message: "This answer is too large: it used up the memory for one answer. Ask for a shorter answer.",
      isNote: false,
      page: null,
    });
    assert.equal(ended(stream).error?.kind, "tooLarge");
  };
  const hostile = own.openStream();
  for (let at = 0; at < 100 && hostile.report === undefined; at++) {
    hostile.handleBytes(delta("x".repeat(100_000)));
  }
  assert.deepEqual(hostile.handleBytes(delta("more")), []);
  tooLarge(hostile);
  // One AI SDK chunk and one whole response that are each too large.
  const chunks = (await loadCore(withMaximumMemory(aiSdkWasmBytes, 32))).openStream();
  chunks.handleChunk(JSON.stringify({ type: "text-delta", text: "x".repeat(4 << 20) }));
  tooLarge(chunks);
  const whole = own.openExchange({});
  whole.handleHead(200, [["content-type", "application/json"]]);
  for (let at = 0; at < 4; at++) {
    whole.handleBytes(encode("x".repeat(1 << 20)));
  }
  tooLarge(whole);
  for (const stream of [...beside, own.openStream()]) {
    assert.deepEqual(stream.handleBytes(delta("and ended")), [{ type: "text", value: "and ended" }]);
    stream.handleBytes(completed);
    assert.equal(ended(stream).status, "completed");
  }
});

test("the real module has a memory maximum and starts below it", () => {
  const { limits } = memorySection(wasmBytes);
  assert.deepEqual([limits.length, limits[2]], [3, 8192], "512 MiB in pages of 64 KiB");
});

test("a large chunk is pushed in pieces, and the memory is released with the stream", async () => {
  const own = await loadCore(wasmBytes);
  const stream = own.openStream();
  // Comments are skipped: 64 MiB of them in one chunk need almost no memory.
  const comments = encode(`: ${"x".repeat(1021)}\n`.repeat(64 << 10));
  assert.deepEqual(stream.handleBytes(comments), []);
  stream.handleBytes(completed);
  assert.equal(ended(stream).status, "completed");
  assert.ok(own.memoryBytes > 0 && own.memoryBytes < 8 << 20, `${own.memoryBytes} bytes are held`);
});

test("idle instances are few and small, whatever ran before", async () => {
  const own = await loadCore(wasmBytes);
  const streams = Array.from({ length: 20 }, () => own.openStream());
  streams.forEach((stream, at) => stream.handleBytes(delta("x".repeat(at % 4 === 0 ? 10 << 20 : 10))));
  streams.forEach((stream) => stream.close());
  assert.ok(own.memoryBytes < 32 << 20, `${own.memoryBytes} bytes are held`);
  const next = own.openStream();
  next.handleEnd();
  assert.equal(ended(next).status, "truncated");
});

/** Returns the same module with another memory maximum, in pages of 64 KiB. */
function withMaximumMemory(wasm: Uint8Array, pages: number): Uint8Array<ArrayBuffer> {
  const { from, to, limits } = memorySection(wasm);
  assert.ok(pages > limits[1]! && pages < 0x80 && limits[1]! < 0x80);
  return Uint8Array.from([...wasm.subarray(0, from), 5, 4, 1, 1, limits[1]!, pages, ...wasm.subarray(to)]);
}

/** Finds the section that declares the memory, and its limits: flag, minimum, maximum. */
function memorySection(wasm: Uint8Array): { from: number; to: number; limits: number[] } {
  let at = 8;
  const number = (): number => {
    for (let value = 0, shift = 0; ; shift += 7) {
      const byte = wasm[at++]!;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) {
        return value;
      }
    }
  };
  for (;;) {
    const from = at;
    const section = wasm[at++];
    const to = number() + at;
    if (section === 5) {
      assert.equal(number(), 1);
      const limits: number[] = [];
      while (at < to) {
        limits.push(number());
      }
      return { from, to, limits };
    }
    at = to;
  }
}

/** Returns the result types of every function type in the module's type section. */
function* functionResults(wasm: Uint8Array): Generator<number[]> {
  let at = 8;
  const number = (): number => {
    for (let value = 0, shift = 0; ; shift += 7) {
      const byte = wasm[at++]!;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) {
        return value;
      }
    }
  };
  const types = (): number[] => Array.from({ length: number() }, () => wasm[at++]!);
  while (at < wasm.length) {
    const section = wasm[at++];
    const end = number() + at;
    if (section === 1) {
      for (let count = number(); count > 0; count--) {
        assert.equal(wasm[at++], 0x60);
        types();
        yield types();
      }
    }
    at = end;
  }
}
