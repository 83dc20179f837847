// The thread that vocabulary.ts starts. It builds one vocabulary and ends.

import { loadTokens } from "./tokens.js";

export interface ThreadData {
  readonly module: WebAssembly.Module;
  readonly model: string;
}

declare function require(name: "node:worker_threads"): {
  parentPort: { postMessage(memory: Uint8Array, transfer: readonly ArrayBuffer[]): void };
  workerData: ThreadData;
};

const { parentPort, workerData } = require("node:worker_threads");

void loadTokens(workerData.module).then((tokens) => {
  tokens.prepare(workerData.model);
  const memory = tokens.memory();
  parentPort.postMessage(memory, [memory.buffer]);
});
