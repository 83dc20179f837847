// Node benchmarks of Sluice's WebAssembly and of similar libraries: `node main.mjs --wasm PATH --without-memcmp PATH
// --without-inline-never PATH --loader PATH --adapter PATH [--quick]`.
//
// Prints a table for each of the project's goals. Exits with 0 whatever the results are, but with 1 if a contender
// reads a corpus incorrectly, because then its time means nothing.

import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { gzipSync } from "node:zlib";

import { adapterTables } from "./adapter.mjs";
import { textCorpus, toolsCorpus } from "./corpus.mjs";
import { check, LOADERS, respond } from "./readers.mjs";
import { Table } from "./report.mjs";
import { median, medians } from "./timing.mjs";

const { values: options } = parseArgs({
  options: {
    wasm: { type: "string" },
    "without-memcmp": { type: "string" },
    "without-inline-never": { type: "string" },
    loader: { type: "string" },
    adapter: { type: "string" },
    quick: { type: "boolean" },
  },
});
const PATHS = ["wasm", "without-memcmp", "without-inline-never", "loader", "adapter"];
if (PATHS.some((name) => options[name] === undefined)) {
  console.error(`usage: node main.mjs ${PATHS.map((name) => `--${name} PATH`).join(" ")} [--quick]`);
  process.exit(1);
}
const rounds = options.quick ? 5 : 15;

const text = textCorpus();
const tools = toolsCorpus();
for (const { name, events, body } of [text, tools]) {
  console.log(`corpus ${name}: ${events} events, ${(body.length / 1e6).toFixed(2)} MB`);
}
console.log(`Node ${process.versions.node}`);

const readers = {};
for (const [key, load] of Object.entries(LOADERS)) readers[key] = await load(options);

await bodyToParts("text, 16 KiB chunks", text, text.per16KiB, { hand: 0.4, openai: 6, ai: 40 });
await bodyToParts("text, one event a chunk", text, text.perEvent, { hand: 0.55 });
await bodyToParts("tools, 16 KiB chunks", tools, tools.per16KiB, {});
await bodyToParts("tools, one event a chunk", tools, tools.perEvent, {});
await adapterTables({ adapter: options.adapter, rounds, text, tools, hand: readers.hand });
await boundaryAlone();
// crates/sluice-wasm/src/compare.rs and crates/sluice-core/src/receive.rs say why these exist.
await without("our memcmp", options["without-memcmp"], { atLeast: 1.05 });
await without("inline(never)", options["without-inline-never"], undefined);
const instantiate = await coldStart();
await size(instantiate);

/** The complete path from a Response to parts. */
async function bodyToParts(title, corpus, chunks, aims) {
  const keys = ["nothing", "sluice", "hand", "openai", "ai"];
  for (const key of keys.slice(1)) check(readers[key].name, corpus, await readers[key].read(respond(chunks)));

  const times = await medians(
    rounds,
    keys.map((key) => ({ run: () => readers[key].read(respond(chunks)), every: key === "ai" ? 3 : 1 })),
  );
  const [, sluice, hand, openai, ai] = times;
  const table = new Table(`body to parts: ${title}`);
  keys.forEach((key, index) => table.info(readers[key].name, perEvent(times[index], corpus)));
  figure(table, "sluice / hand-written", sluice / hand, aims.hand && { atMost: aims.hand });
  figure(table, "openai SDK / sluice", openai / sluice, aims.openai && { atLeast: aims.openai });
  figure(table, "ai streamText / sluice", ai / sluice, aims.ai && { atLeast: aims.ai });
  table.print();
}

/** Only the cost of a push, without the stream that delivers the chunks. */
async function boundaryAlone() {
  const table = new Table("boundary alone: synchronous, text");
  for (const [chunking, chunks, aim] of [
    ["one event a chunk", text.perEvent, { atMost: 0.3 }],
    ["16 KiB chunks", text.per16KiB, undefined],
  ]) {
    const pair = [readers.sluice, readers.hand];
    for (const reader of pair) check(reader.name, text, reader.readSync(chunks));
    const times = await medians(
      rounds * 2,
      pair.map((reader) => ({ run: () => reader.readSync(chunks) })),
    );
    pair.forEach((reader, index) => table.info(`${reader.name}, ${chunking}`, perEvent(times[index], text)));
    figure(table, "sluice / hand-written", times[0] / times[1], aim);
  }
  table.print();
}

/** What an optimization is worth: compares our module with one that was built without it. */
async function without(what, wasm, aim) {
  const plain = await LOADERS.sluice({ ...options, wasm });
  const table = new Table(`without ${what}: synchronous, 16 KiB chunks`);
  for (const corpus of [text, tools]) {
    const run = (reader) => ({ run: () => reader.readSync(corpus.per16KiB) });
    const [without, own] = await medians(rounds * 2, [run(plain), run(readers.sluice)]);
    figure(table, `${corpus.name}: without / with`, without / own, aim);
  }
  const first = { plain: [], own: [] };
  for (let round = 0; round < rounds; round++) {
    first.plain.push((await cold("sluice", wasm)).cpu);
    first.own.push((await cold("sluice", options.wasm)).cpu);
  }
  figure(table, "cold start, CPU time: without / with", median(first.plain) / median(first.own));
  table.print();
}

/** Loads a reader and lets it read the first 500 events, in a fresh process. */
async function cold(key, wasm) {
  const script = fileURLToPath(new URL("cold.mjs", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script, key, "--loader", options.loader, "--wasm", wasm]);
  return JSON.parse(stdout);
}

/**
 * Loads each reader and lets it read the first 500 events, in a fresh process each time. Returns the time that our
 * module took to instantiate.
 */
async function coldStart() {
  const keys = ["sluice", "hand", "openai", "ai"];
  const results = Object.fromEntries(keys.map((key) => [key, []]));
  for (let round = 0; round < rounds; round++) {
    for (const key of keys) {
      results[key].push(await cold(key, options.wasm));
    }
  }
  const table = new Table("cold start: load and read 500 events, one a chunk, ms");
  for (const key of keys) {
    const total = median(results[key].map((result) => result.total));
    const load = median(results[key].map((result) => result.load));
    const measured = `${total.toFixed(1)} ms, ${load.toFixed(1)} of it loading`;
    table.info(readers[key].name, measured, total);
  }
  const [sluice, hand] = ["sluice", "hand"].map((key) => median(results[key].map((result) => result.total)));
  table.aim("sluice / hand-written", "", sluice / hand, { atMost: 1 });
  table.print();
  return median(results.sluice.map((result) => result.instantiate));
}

async function size(instantiate) {
  const bytes = await readFile(options.wasm);
  const kilobytes = (count) => `${(count / 1e3).toFixed(1)} kB`;
  const table = new Table("the WebAssembly module");
  table.info("as it is", kilobytes(bytes.length));
  const gzipped = gzipSync(bytes, { level: 9 }).length;
  table.aim("gzipped", kilobytes(gzipped), gzipped / 1e3, { atMost: 200 });
  table.info("compile and instantiate, fresh process", `${instantiate.toFixed(2)} ms`);
  table.print();
}

function figure(table, what, value, aim) {
  if (aim) table.aim(what, "", value, aim);
  else table.info(what, "", value);
}

function perEvent(milliseconds, corpus) {
  const microseconds = (milliseconds * 1e3) / corpus.events;
  const speed = corpus.body.length / 1e3 / milliseconds;
  return `${microseconds.toFixed(2)} us/event, ${speed.toFixed(0)} MB/s`;
}
