// Shared by all tests here: the compiled core, the made-up streams, and a way to run one through the other.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Core, loadCore, type Outcome, type Output } from "../src/core.js";

/** `cargo xtask test` builds the core, writes the streams and passes their paths. */
export function fromEnvironment(name: string): string {
  const value = process.env[name];
  if (value === undefined) {
    throw new Error(`${name} is not set; run the tests with \`cargo xtask test\``);
  }
  return value;
}

export const wasmBytes = new Uint8Array(readFileSync(fromEnvironment("SLUICE_WASM")));
export const aiSdkWasmBytes = new Uint8Array(readFileSync(fromEnvironment("SLUICE_AI_SDK_WASM")));
export const core: Core = await loadCore(wasmBytes);

export interface Result {
  outputs: Output[];
  outcome: Outcome;
}

export interface TestStream {
  name: string;
  body: Uint8Array;
  /** The result of the native core. */
  expected: Result;
}

export function testStreams(): TestStream[] {
  const directory = fromEnvironment("SLUICE_STREAMS");
  const names = readdirSync(directory)
    .filter((file) => file.endsWith(".sse"))
    .map((file) => file.slice(0, -4))
    .sort();
  return names.map((name) => ({
    name,
    body: new Uint8Array(readFileSync(join(directory, `${name}.sse`))),
    expected: JSON.parse(readFileSync(join(directory, `${name}.json`), "utf8")) as Result,
  }));
}

/** Runs a body through the core in the given chunks. */
export function run(pieces: Iterable<Uint8Array>): Result {
  const exchange = core.openStream();
  const outputs: Output[] = [];
  for (const piece of pieces) {
    outputs.push(...exchange.handleBytes(piece));
  }
  outputs.push(...exchange.handleEnd());
  const { outcome } = exchange.report!;
  exchange.close();
  return { outputs, outcome };
}

export function* inPieces(body: Uint8Array, size: number): Generator<Uint8Array> {
  for (let at = 0; at < body.length; at += size) {
    yield body.subarray(at, at + size);
  }
}

/** Adjacent text counts as one part, because the boundary joins what arrives in one push. */
export function joined(outputs: readonly Output[]): Output[] {
  const result: Output[] = [];
  for (const output of outputs) {
    const last = result.at(-1);
    if (output.type === "text" && last?.type === "text") {
      result[result.length - 1] = { type: "text", value: last.value + output.value };
    } else {
      result.push(output);
    }
  }
  return result;
}
