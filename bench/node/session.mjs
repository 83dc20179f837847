// What a long session costs the extension host: `node session.mjs --core PATH --requests PATH --loader FOLDER [--quick]`.
//
// Builds requests from long conversations, reads answers and lists models, as the extension does, and prints how much
// memory stays in use and how long the event loop is blocked.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { textCorpus } from "./corpus.mjs";
import { history } from "./history.mjs";
import { Table } from "./report.mjs";
import { median } from "./timing.mjs";

const BASE = "https://gateway.example/v1";
const REQUESTS = 100;

const text = { type: "string" };
const { values: options } = parseArgs({ options: { core: text, requests: text, loader: text, quick: { type: "boolean" } } });
const load = (name) => import(join(options.loader, name));
const [{ loadCore }, { loadRequests }] = await Promise.all(["core.js", "requests.js"].map(load));
const [core, requests] = [await loadCore(await readFile(options.core)), await loadRequests(await readFile(options.requests))];
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc");

const answer = textCorpus(500);

/** Returns the CPU time that some work takes, in milliseconds, which depends less on other programs. */
function cpuMs(work) {
  const started = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1000;
}

/** One request and its answer. Returns the CPU time until the body of the request is ready. */
function converse(chat) {
  const time = cpuMs(() => {
    const { body } = requests.buildRequest(new TextEncoder().encode(JSON.stringify(chat)), BASE);
    if (body.length === 0) throw new Error("the request has no body");
  });
  const stream = core.openStream();
  for (const chunk of answer.per16KiB) stream.handleBytes(chunk);
  stream.handleEnd();
  stream.close();
  return time;
}

const table = new Table("long sessions");

const large = history(2_000_000);
const blocked = median(Array.from({ length: options.quick ? 5 : 15 }, () => converse(large)));
table.aim("2 MB of history: the event loop is blocked for, ms", "", blocked, { atMost: 30 });

const chat = history(700_000);
const resident = () => {
  collectGarbage();
  return process.memoryUsage.rss();
};
const before = resident();
for (let round = 0; round < REQUESTS; round++) converse(chat);
const grown = (resident() - before) / 1e6;
table.aim(`memory after ${REQUESTS} requests of 700 KB, MB more`, "", grown, { atMost: 50 });

const data = Array.from({ length: 150 }, (_, index) => ({
  id: `vendor${index % 12}/model-${index}`,
  name: `Model ${index}`,
  description: "A model for all kinds of work. ".repeat(8),
  type: "language",
  context_window: 200_000,
  max_tokens: 64_000,
  tags: ["reasoning", "tool-use", "vision", "implicit-caching"],
  pricing: { input: "0.00000125", output: "0.00001", input_cache_read: "0.000000125" },
}));
const response = { status: 200, headers: [["content-type", "application/json"]], body: JSON.stringify({ data }) };
const perform = async ({ type }) => (type === "get" ? { received: [response] } : type === "read" ? "missing" : { done: true });
const task = { connection: "", label: "", baseUrl: BASE, isDemo: false, isTrial: false, settings: {}, extraHeaders: {} };
const { models } = await requests.run({ models: { ...task, work: "refresh" } }, { perform });
if (models.length !== data.length) throw new Error(`${models.length} models are listed`);
const listing = [];
for (let round = 0; round < 25; round++) {
  const started = process.cpuUsage();
  await requests.run({ models: { ...task, work: "list" } }, { perform });
  const { user, system } = process.cpuUsage(started);
  listing.push((user + system) / 1000);
}
table.aim("150 models: listed from the cache in, ms", "", median(listing), { atMost: 15 });
table.print();
