// node report-size.mjs MODULE: prints how large the core is and how fast it starts.

import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { loadCore } from "../dist/src/core.js";

const module = process.argv[2];
const bytes = readFileSync(module);
const times = [];
for (let round = 0; round < 20; round++) {
  const before = performance.now();
  const core = await loadCore(bytes);
  core.openStream().close();
  times.push(performance.now() - before);
}
times.sort((a, b) => a - b);
const kilobytes = (length) => `${(length / 1024).toFixed(0)} KiB`;
console.log(
  `${module}: ${kilobytes(bytes.length)}, ${kilobytes(gzipSync(bytes, { level: 9 }).length)} gzipped, ` +
    `starts in ${times[10].toFixed(1)} ms (median of ${times.length}, Node ${process.versions.node})`,
);
