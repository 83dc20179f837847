// Measures the first answer after start-up: in a fresh process, it loads one reader and has it read a short answer.
// `node cold.mjs READER [--loader PATH --wasm PATH]` prints milliseconds: `total`, within it `load` and `instantiate`,
// and the `cpu` time of all threads. Node's own fetch classes are used before the clock starts, because an editor has
// loaded them already.

import { parseArgs } from "node:util";

import { textCorpus } from "./corpus.mjs";
import { check, LOADERS, loadNothing, respond } from "./readers.mjs";

const DELTAS = 492; // and eight events around them

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { loader: { type: "string" }, wasm: { type: "string" } },
});
const corpus = textCorpus(DELTAS);
const floor = await loadNothing();
await floor.read(respond(corpus.perEvent.slice(0, 2)));

const cpu = process.cpuUsage();
const start = performance.now();
const reader = await LOADERS[positionals[0]](values);
const loaded = performance.now();
const parts = await reader.read(respond(corpus.perEvent));
const end = performance.now();
const { user, system } = process.cpuUsage(cpu);

check(reader.name, corpus, parts);
const times = { load: loaded - start, instantiate: reader.instantiate, total: end - start, cpu: (user + system) / 1000 };
console.log(JSON.stringify(times));
