// What must hold of the boundary itself, whatever streams go through it.

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
    assert.ok(results.every((type) => !references.has(type)), "an export that returns an externref can abort Node");
  }
});

test("hundreds of thousands of small pushes, through deoptimisation and growing memory", () => {
  const rounds = 40;
  for (let round = 0; round < rounds; round++) {
    const stream = core.openStream();
    let text = "";
    for (let at = 0; at < 10_000; at++) {
      for (const output of stream.push(delta(at % 100 === 0 ? "ä😀" : "word "))) {
        // A property that comes and goes makes the compiler throw its assumptions away.
        text += output.type === "text" ? output.value : "";
        if (at % 997 === 0) {
          (output as { extra?: number }).extra = at;
        }
      }
    }
    // One large event among the small ones makes the memory grow under the views.
    const large = "x".repeat(round * 200_000);
    text += stream.push(delta(large)).map((output) => (output.type === "text" ? output.value : "")).join("");
    stream.push(completed);
    assert.equal(stream.finish("eof").outcome.status, "completed");
    assert.equal(text.length, 9_900 * 5 + 100 * 3 + large.length);
  }
});

test("what a large answer took is given back, and the streams beside it go on", async () => {
  const own = await loadCore(wasmBytes);
  const beside = own.openStream();
  beside.push(delta("begun "));
  const large = own.openStream();
  large.push(delta("x".repeat(40 << 20)));
  large.push(completed);
  assert.equal(large.finish("eof").outcome.status, "completed");
  assert.ok(own.memoryBytes < 8 << 20, `${own.memoryBytes} bytes are held`);
  assert.deepEqual(beside.push(delta("and ended")), [{ type: "text", value: "and ended" }]);
  beside.push(completed);
  assert.equal(beside.finish("eof").outcome.status, "completed");
});

test("streams side by side do not mix", () => {
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

test("text of one push is one part, and other parts keep their place", () => {
  const thinking = encode(`data: {"type":"response.reasoning.delta","output_index":1,"item_id":"rs","delta":"hm"}\n\n`);
  const whole = Buffer.concat([delta("a"), delta("ü"), thinking, delta("😀"), delta("b"), completed]);
  assert.deepEqual(run([whole]).outputs, [
    { type: "text", value: "aü" },
    { type: "thinking", value: "hm", id: "rs" },
    { type: "text", value: "😀b" },
  ]);
});

test("the end of the body is told apart", () => {
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

test("a finished stream says so", () => {
  const stream = core.openStream();
  stream.finish("eof");
  assert.throws(() => stream.push(completed), CoreError);
  assert.throws(() => stream.finish("eof"), CoreError);
});

test("after a crash the next stream works", async () => {
  const own = await loadCore(wasmBytes);
  const broken = own.openStream();
  // Nothing known makes the core trap; a chunk that is no byte array fails at the same place.
  assert.throws(() => broken.push({ length: 1e12 } as unknown as Uint8Array), CoreError);
  assert.throws(() => broken.push(completed), CoreError);
  const fresh = own.openStream();
  fresh.push(completed);
  assert.equal(fresh.finish("eof").outcome.status, "completed");
});

/** The result types of every function type in the module's type section. */
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
