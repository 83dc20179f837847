// What the first answer after start-up costs: run in a fresh process, it loads one reader and has it read a short
// answer. `node cold.mjs READER [--loader PATH --wasm PATH]` prints milliseconds: `total`, and within it `load` and
// `instantiate`. Node's own fetch classes are touched before the clock starts: in an editor they are already there.

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

const start = performance.now();
const reader = await LOADERS[positionals[0]](values);
const loaded = performance.now();
const parts = await reader.read(respond(corpus.perEvent));
const end = performance.now();

check(reader.name, corpus, parts);
console.log(JSON.stringify({ load: loaded - start, instantiate: reader.instantiate, total: end - start }));
