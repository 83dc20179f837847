// What must hold for the boundary itself, independent of the streams that cross it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CoreError, loadCore } from "../src/core.js";
import { core, run, wasmBytes } from "./support.js";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const delta = (text: string): Uint8Array =>
  encode(`data: ${JSON.stringify({ type: "response.output_text.delta", output_index: 0, delta: text })}\n\n`);
const completed = encode(`data: {"type":"response.completed","response":{"id":"r","usage":null}}\n\n`);

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
      for (const output of stream.push(delta(at % 100 === 0 ? "ä😀" : "word "))) {
        // A property that comes and goes makes the compiler discard its assumptions.
        text += output.type === "text" ? output.value : "";
        if (at % 997 === 0) {
          (output as { extra?: number }).extra = at;
        }
      }
    }
    // One large event among small ones makes the memory grow, which detaches the views.
    const large = "x".repeat(round * 200_000);
    text += stream
      .push(delta(large))
      .map((output) => (output.type === "text" ? output.value : ""))
      .join("");
    stream.push(completed);
    assert.equal(stream.finish("eof").outcome.status, "completed");
    assert.equal(text.length, 9_900 * 5 + 100 * 3 + large.length);
  }
});

test("the memory of a large answer is released, and other streams continue", async () => {
  const own = await loadCore(wasmBytes);
  const beside = own.openStream();
  beside.push(delta("begun "));
  const large = own.openStream();
  large.push(delta("x".repeat(12 << 20)));
  large.push(completed);
  assert.equal(large.finish("eof").outcome.status, "completed");
  assert.ok(own.memoryBytes < 8 << 20, `${own.memoryBytes} bytes are held`);
  assert.deepEqual(beside.push(delta("and ended")), [{ type: "text", value: "and ended" }]);
  beside.push(completed);
  assert.equal(beside.finish("eof").outcome.status, "completed");
});

test("concurrent streams do not mix", () => {
  const streams = Array.from({ length: 50 }, () => core.openStream());
  const texts = streams.map(() => "");
  for (let at = 0; at < 20; at++) {
    streams.forEach((stream, index) => {
      for (const output of stream.push(delta(`${index},`))) {
        texts[index] += output.type === "text" ? output.value : "";
      }
    });
  }
  texts.forEach((text, index) => assert.equal(text, `${index},`.repeat(20)));
  streams.forEach((stream) => assert.equal(stream.finish("cancelled").outcome.status, "cancelled"));
});

test("the text of one push is one part, and other parts keep their position", () => {
  const thinking = encode(`data: {"type":"response.reasoning.delta","output_index":1,"item_id":"rs","delta":"hm"}\n\n`);
  const whole = Buffer.concat([delta("a"), delta("ü"), thinking, delta("😀"), delta("b"), completed]);
  assert.deepEqual(run([whole]).outputs, [
    { type: "text", value: "aü" },
    { type: "thinking", value: "hm", id: "rs" },
    { type: "text", value: "😀b" },
  ]);
});

test("the ways a body can end are distinguished", () => {
  const statuses = (["eof", "cancelled", "idleTimeout", "broken"] as const).map((end) => {
    const { status, reason } = core.openStream().finish(end).outcome;
    return [status, reason];
  });
  assert.deepEqual(statuses, [
    ["truncated", "eof"],
    ["cancelled", null],
    ["truncated", "idle_timeout"],
    ["truncated", "broken"],
  ]);
});

test("a finished stream reports misuse", () => {
  const stream = core.openStream();
  stream.finish("eof");
  assert.throws(() => stream.push(completed), CoreError);
  assert.throws(() => stream.finish("eof"), CoreError);
});

test("a stream that exhausts its memory fails alone, with a named error", async () => {
  const own = await loadCore(withMaximumMemory(wasmBytes, 32));
  const beside = Array.from({ length: 20 }, () => own.openStream());
  beside.forEach((stream) => stream.push(delta("begun ")));
  for (const end of ["finish", "conclude"] as const) {
    const hostile = own.openStream();
    for (let at = 0; at < 100 && !hostile.isTerminal; at++) {
      hostile.push(delta("x".repeat(100_000)));
    }
    assert.ok(hostile.isTerminal, "the memory is not bounded");
    assert.deepEqual(hostile.push(delta("more")), []);
    const attempt = { host: "a.example", attempt: 1, calledTool: false };
    const decision = end === "conclude" ? hostile.conclude("eof", attempt) : { step: null, ...hostile.finish("eof") };
    assert.equal(decision.outcome.status, "failed");
    assert.equal(decision.outcome.error?.kind, "tooLarge");
    assert.match(decision.outcome.error.message, /too large: it used up the memory/);
    if (end === "conclude") {
      assert.deepEqual(decision.step, {
        type: "reject",
        kind: "tooLarge",
        message: "This answer is too large: it used up the memory for one answer. Ask for a shorter answer.",
      });
    }
  }
  // One AI SDK chunk and one JSON response that are too large by themselves.
  const chunks = own.openChunkStream();
  chunks.pushChunk(JSON.stringify({ type: "text-delta", text: "x".repeat(4 << 20) }));
  assert.equal(chunks.finish("eof").outcome.error?.kind, "tooLarge");
  assert.throws(() => own.asStream(JSON.stringify({ output: "x".repeat(4 << 20) })), CoreError);
  for (const stream of [...beside, own.openStream()]) {
    assert.deepEqual(stream.push(delta("and ended")), [{ type: "text", value: "and ended" }]);
    stream.push(completed);
    assert.equal(stream.finish("eof").outcome.status, "completed");
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
  assert.deepEqual(stream.push(comments), []);
  stream.push(completed);
  assert.equal(stream.finish("eof").outcome.status, "completed");
  assert.ok(own.memoryBytes > 0 && own.memoryBytes < 8 << 20, `${own.memoryBytes} bytes are held`);
});

test("idle instances are few and small, whatever ran before", async () => {
  const own = await loadCore(wasmBytes);
  const streams = Array.from({ length: 20 }, () => own.openStream());
  streams.forEach((stream, at) => stream.push(delta("x".repeat(at % 4 === 0 ? 10 << 20 : 10))));
  streams.forEach((stream) => stream.finish("cancelled"));
  assert.ok(own.memoryBytes < 32 << 20, `${own.memoryBytes} bytes are held`);
  assert.equal(own.openStream().finish("eof").outcome.status, "truncated");
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
