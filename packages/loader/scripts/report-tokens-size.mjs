// node report-tokens-size.mjs MODULE: prints how large the token counter is, how fast it starts and when it has counted
// the first text.

import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { loadTokens } from "../dist/src/tokens.js";

const module = process.argv[2];
const bytes = readFileSync(module);
const rounds = 5;
const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];
const times = { start: [], first: [] };
for (let round = 0; round < rounds; round++) {
  const before = performance.now();
  const tokens = await loadTokens(bytes);
  const started = performance.now();
  tokens.countText("gpt-5", "", "hello");
  times.start.push(started - before);
  times.first.push(performance.now() - started);
}
const kilobytes = (length) => `${(length / 1024).toFixed(0)} KiB`;
const shown = (times) => `${median(times).toFixed(1)} ms`;
console.log(
  `${module}: ${kilobytes(bytes.length)}, ${kilobytes(gzipSync(bytes, { level: 9 }).length)} gzipped, ` +
    `compiles in ${shown(times.start)}, counts the first text ${shown(times.first)} later ` +
    `(medians of ${rounds}, Node ${process.versions.node})`,
);
