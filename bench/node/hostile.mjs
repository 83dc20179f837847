// Reads hostile input through the loader, as the extension does: `node hostile.mjs --wasm PATH --loader PATH --requests
// PATH --once DIR --twice DIR --largest DIR [--quick]`. The directories contain the same input at one size and at twice that
// size, and the largest events that the limits allow.
//
// Prints two tables, and exits with 0 whatever the results are.

import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

import { Table } from "./report.mjs";

const { values: options } = parseArgs({
  options: {
    wasm: { type: "string" },
    loader: { type: "string" },
    once: { type: "string" },
    twice: { type: "string" },
    largest: { type: "string" },
    quick: { type: "boolean" },
  },
});
if (!options.wasm || !options.loader || !options.once || !options.twice || !options.largest) {
  console.error("usage: node hostile.mjs --wasm PATH --loader PATH --once DIR --twice DIR --largest DIR [--quick]");
  process.exit(1);
}
const CHUNK = 64 << 10;
/** A run that takes longer than this is stopped. */
const PATIENCE_MS = 5_000;
/** Short input is read repeatedly for this long. */
const ENOUGH_MS = 200;
/** Shorter times mostly measure chance. */
const SHORT_MS = 5;
const rounds = options.quick ? 2 : 5;

/**
 * The processor time of this process in milliseconds. Unlike the time on a clock, it doesn't depend on what else the
 * machine does. It includes the threads that compile and collect garbage, so nothing blocks longer on an idle machine.
 */
function cpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

// The loader's instances are private, but their memories show how large a stream made them.
let memory;
WebAssembly.Instance = class extends WebAssembly.Instance {
  constructor(...module) {
    super(...module);
    memory = this.exports.memory;
  }
};

const folder = dirname(resolve(options.wasm));
const load = (file) => import(pathToFileURL(join(dirname(resolve(options.loader)), file)));
const { Core } = await load("core.js");
const { loadRequests } = await load("requests.js");
const module = new WebAssembly.Module(readFileSync(options.wasm));
const aiSdk = new WebAssembly.Module(readFileSync(join(folder, "sluice_ai_sdk_wasm.wasm")));
const requests = await loadRequests(readFileSync(join(folder, "sluice_requests_wasm.wasm")));

const table = new Table("hostile streams: time at n and 2n, in WebAssembly");
const worst = { push: 0, pushOf: "", memory: 0, memoryOf: "" };
const index = JSON.parse(readFileSync(join(options.once, "index.json"), "utf8"));
for (const { name, input, file } of index) {
  const [once, twice] = [options.once, options.twice].map((place) => readFileSync(join(place, file)));
  const [first, second] = await least(input, [once, twice]);
  if (second.push > worst.push) [worst.push, worst.pushOf] = [second.push, name];
  if (second.memory > worst.memory) [worst.memory, worst.memoryOf] = [second.memory, name];
  const measured = [
    `${first.time.toFixed(1)} ms, ${second.time.toFixed(1)} ms`,
    second.push === 0 ? "" : `longest push ${second.push.toFixed(1)} ms`,
    second.memory === 0 ? "" : `${(second.memory / (1 << 20)).toFixed(1)} MiB`,
  ];
  const ratio = second.time < SHORT_MS ? 2 : second.time / first.time;
  const stopped = first.stopped || second.stopped;
  table.aim(name, measured.filter(Boolean).join(", ").padEnd(60), stopped ? Infinity : ratio, { atMost: 3 });
}
table.aim("longest push of 64 KiB, ms", worst.pushOf, worst.push, { atMost: 50 });
table.info("largest instance, MiB", worst.memoryOf, worst.memory / (1 << 20));
table.print();

const pushes = new Table("the largest events that the limits allow: longest push of 64 KiB, in WebAssembly");
for (const { name, input, file } of JSON.parse(readFileSync(join(options.largest, "index.json"), "utf8"))) {
  const [{ time, push }] = await least(input, [readFileSync(join(options.largest, file))]);
  pushes.aim(name, `of ${time.toFixed(1)} ms in all`, push, { atMost: 50 });
}
pushes.print();

/**
 * Returns the minimum time for each of the bodies, and the minimum of their slowest chunks: the time they take when
 * everything is compiled. They take turns. Short bodies are read more often, because chance is a larger part of their
 * time.
 */
async function least(input, bodies) {
  const best = bodies.map(() => ({ time: Infinity, push: Infinity, memory: 0, stopped: false }));
  const start = cpuMs();
  for (let round = 0; round < rounds || (round < 5 * rounds && cpuMs() - start < ENOUGH_MS); round++) {
    for (const [index, body] of bodies.entries()) {
      const { time, push, memory, stopped } = await attempt(input, body);
      const known = best[index];
      best[index] = { time: Math.min(known.time, time), push: Math.min(known.push, push), memory, stopped };
      if (stopped) return best;
    }
    if (cpuMs() - start > PATIENCE_MS) break;
  }
  return best;
}

/** A crash counts as not finishing. */
async function attempt(input, body) {
  try {
    return await read(input, body);
  } catch (error) {
    console.error(error.message);
    return { time: Infinity, push: Infinity, memory: 0, stopped: true };
  }
}

async function read(input, body) {
  const start = cpuMs();
  const took = () => ({ time: cpuMs() - start, push: 0, memory: 0, stopped: false });
  switch (input) {
    case "OpenResponses":
    case "AiSdk":
      return readStream(input, body);
    case "ModelList":
      await models("refresh", answer(200, body.toString()));
      return took();
    case "ModelEndpoints":
      await models({ enrich: { model: "acme/m" } }, answer(200, body.toString()));
      return took();
    case "ErrorBody":
      whole(500, body);
      return took();
    case "RetryAfter":
      whole(500, new Uint8Array(), [["retry-after", body.toString()]]);
      return took();
    case "WholeAnswer":
      whole(200, body, [["content-type", "application/json"]]);
      return took();
    case "Masked":
      requests.mask(["canary-0123456789abcdef"], body.toString());
      return took();
    default:
      throw new Error(`nobody reads ${input}`);
  }
}

function readStream(input, body) {
  const stream = new Core(input === "AiSdk" ? aiSdk : module).openStream();
  let [longest, stopped] = [0, false];
  const start = cpuMs();
  const timed = (work) => {
    const before = cpuMs();
    work();
    longest = Math.max(longest, cpuMs() - before);
    stopped ||= cpuMs() - start > PATIENCE_MS;
  };
  for (let at = 0; at < body.length && stream.report === undefined && !stopped; at += CHUNK) {
    timed(() => stream.handleBytes(body.subarray(at, at + CHUNK)));
  }
  timed(() => stream.handleEnd());
  return { time: cpuMs() - start, push: longest, memory: memory.buffer.byteLength, stopped };
}

/** Works on the list of a server about which nothing is known, and which answers every request with `received`. */
async function models(work, received) {
  const perform = async ({ type }) => (type === "get" ? { received: [received] } : type === "read" ? "missing" : { done: true });
  const task = {
    connection: "",
    label: "",
    baseUrl: "https://gateway.example/v1",
    isDemo: false,
    isTrial: false,
    settings: {},
    extraHeaders: {},
  };
  await requests.run({ models: { ...task, work: "forget" } }, { perform });
  await requests.run({ models: { ...task, work } }, { perform });
}

function whole(status, body, headers = []) {
  const exchange = new Core(module).openExchange({ origin: "gateway.example" });
  exchange.handleHead(status, headers);
  exchange.handleBytes(body);
  exchange.handleEnd();
}

function answer(status, body, headers = []) {
  return { status, headers, body };
}
