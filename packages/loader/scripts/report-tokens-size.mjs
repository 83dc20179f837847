// node report-tokens-size.mjs MODULE: prints how large the token counter is, how fast it starts and how fast it builds
// its vocabularies.

import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { loadTokens } from "../dist/src/tokens.js";

const module = process.argv[2];
const bytes = readFileSync(module);
const rounds = 5;
const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];
const times = { start: [], o200k: [], cl100k: [] };
for (let round = 0; round < rounds; round++) {
  const before = performance.now();
  const tokens = await loadTokens(bytes);
  const started = performance.now();
  tokens.prepare("gpt-5");
  const first = performance.now();
  tokens.prepare("gpt-4");
  times.start.push(started - before);
  times.o200k.push(first - started);
  times.cl100k.push(performance.now() - first);
}
const kilobytes = (length) => `${(length / 1024).toFixed(0)} KiB`;
const shown = (times) => `${median(times).toFixed(1)} ms`;
console.log(
  `${module}: ${kilobytes(bytes.length)}, ${kilobytes(gzipSync(bytes, { level: 9 }).length)} gzipped, ` +
    `compiles in ${shown(times.start)}, builds o200k in ${shown(times.o200k)}, cl100k in ${shown(times.cl100k)} ` +
    `(medians of ${rounds}, Node ${process.versions.node})`,
);
