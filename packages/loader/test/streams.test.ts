// Every made-up stream, in every chunking, gives the same result in WebAssembly as natively.

import assert from "node:assert/strict";
import { test } from "node:test";
import { inPieces, joined, run, testStreams } from "./support.js";

const streams = testStreams();

test("there are streams to test", () => assert.ok(streams.length >= 30, `only ${streams.length} streams`));

for (const { name, body, expected } of streams) {
  const check = (pieces: Iterable<Uint8Array>, chunking: string): void => {
    const result = run(pieces);
    assert.deepEqual(joined(result.outputs), joined(expected.outputs), `${name}, ${chunking}`);
    assert.deepEqual(result.outcome, expected.outcome, `${name}, ${chunking}`);
  };
  test(name, () => {
    check([body], "whole");
    for (const size of [1, 7, 1460]) {
      check(inPieces(body, size), `pieces of ${size}`);
    }
    for (let at = 1; at < body.length; at++) {
      check([body.subarray(0, at), body.subarray(at)], `cut at ${at}`);
    }
  });
}
