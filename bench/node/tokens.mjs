// Compares token counters in Node: `node tokens.mjs --wasm PATH --loader PATH [--quick]`.
//
// Vocabularies need the processor's caches, which other programs evict, so the minimum of all rounds counts for every
// contender. Exits with 0 whatever the results are, but with 1 if we count a document differently from the others,
// because then speed means nothing.

import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";

import { Tokenizer } from "ai-tokenizer";
import * as encoding from "ai-tokenizer/encoding/o200k_base";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { Tiktoken } from "js-tiktoken/lite";
import o200k from "js-tiktoken/ranks/o200k_base";

import { Table } from "./report.mjs";
import { least, median } from "./timing.mjs";
import { code, json, prose, turn } from "./tokens-corpus.mjs";

const { values: options } = parseArgs({
  options: { wasm: { type: "string" }, loader: { type: "string" }, quick: { type: "boolean" } },
});
if (!options.wasm || !options.loader) {
  console.error("usage: node tokens.mjs --wasm PATH --loader PATH [--quick]");
  process.exit(1);
}
const rounds = options.quick ? 6 : 15;
const MODEL = "openai/gpt-5";
/**
 * Families that count in different ways: with their own vocabulary, by a factor and kinds of text, with digits apart, with
 * both, with a loaded vocabulary.
 */
const FAMILIES = ["openai/gpt-5", "anthropic/claude-sonnet-4.5", "alibaba/qwen3-coder", "mistral/mistral-large", "google/gemini-3-pro"];
const bytes = await readFile(options.wasm);
const { loadTokens } = await import(options.loader);
const module = await WebAssembly.compile(bytes);

/** A counter whose cache never helps: each document is counted once in a round, and is too long for the cache. */
const tokens = await loadTokens(module);
const tiktoken = new Tiktoken(o200k);
const aiTokenizer = new Tokenizer(encoding);
// By default, all of them throw on special tokens in a text.
const asText = { disallowedSpecial: new Set() };
const peers = {
  "gpt-tokenizer": (text) => countTokens(text, asText),
  "js-tiktoken": (text) => tiktoken.encode(text, [], []).length,
  "ai-tokenizer": (text) => aiTokenizer.encode(text, [], []).length,
};

let wrong = 0;
const ratios = [];
await throughput("code", code());
await throughput("prose", prose());
await throughput("JSON", json());
await hostile();
const vocabulary = await readFile(new URL("../../crates/sluice-core/data/gemma.vocabulary", import.meta.url));
await replayedTurn();
await start();
process.exitCode = wrong === 0 ? 0 : 1;

async function throughput(name, documents) {
  // Short documents would come from the cache.
  const long = documents.filter((text) => text.length > 2048);
  const megabytes = long.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / 1e6;
  const differing = { "gpt-tokenizer": 0, "ai-tokenizer": 0 };
  for (const text of documents) {
    const [ours, theirs] = [tokens.countText(MODEL, "", text), peers["js-tiktoken"](text)];
    // The port of OpenAI's own tokenizer is the reference; the others split some texts differently.
    if (theirs !== ours) {
      wrong++;
      console.error(`${name}: ${ours} tokens, ${theirs} by js-tiktoken: ${JSON.stringify(text.slice(0, 80))}`);
    }
    for (const peer of Object.keys(differing)) differing[peer] += peers[peer](text) === theirs ? 0 : 1;
  }
  const exact = wrong === 0 ? "exact" : `${wrong} WRONG`;
  const counters = { sluice: (text) => tokens.countText(MODEL, "", text), ...peers };
  const times = await least(
    rounds,
    Object.entries(counters).map(([peer, count]) => ({
      run: () => long.forEach((text) => count(text)),
      every: peer === "js-tiktoken" ? 3 : 1,
    })),
  );
  const table = new Table(`tokens of ${name}: ${documents.length} documents, ${megabytes.toFixed(2)} MB`);
  const others = Object.entries(differing).map(([peer, count]) => `${peer} differs on ${count}`);
  table.info(`sluice is ${exact} on every document; ${others.join(", ")}`, "");
  Object.keys(counters).forEach((peer, index) => {
    table.info(peer, `${((megabytes * 1e3) / times[index]).toFixed(1)} MB/s`);
  });
  const ratio = times[1] / times[0];
  ratios.push(ratio);
  table.aim("gpt-tokenizer / sluice", "", ratio, { atLeast: 3.5 });
  table.info("js-tiktoken / sluice", "", times[2] / times[0]);
  table.info("ai-tokenizer / sluice", "", times[3] / times[0]);
  if (ratios.length === 3) {
    const mean = Math.cbrt(ratios.reduce((product, ratio) => product * ratio, 1));
    table.aim("gpt-tokenizer / sluice, geometric mean", "", mean, { atLeast: 5 });
  }
  table.print();
}

/** Text that makes careless counters quadratic, and text that makes them throw. */
async function hostile() {
  const table = new Table("hostile text, ms");
  for (const [name, text, limit] of [
    ["100 KB of one letter", "a".repeat(100_000), 50],
    ["200 KB of one letter", "a".repeat(200_000), undefined],
    ["100,000 kana", "あ".repeat(100_000), undefined],
    ["100 KB of spaces", " ".repeat(100_000), undefined],
    ["100 KB of special tokens", "<|endoftext|>".repeat(7_700), undefined],
  ]) {
    const [time] = await least(rounds, [{ run: () => tokens.countText(MODEL, "", text) }]);
    if (limit) table.aim(name, `${time.toFixed(1)} ms`, time, { atMost: limit });
    else table.info(name, `${time.toFixed(1)} ms`);
  }
  // This is quadratic, so a tenth of the text is enough.
  const tenth = "a".repeat(10_000);
  const before = performance.now();
  countTokens(tenth, asText);
  table.info("gpt-tokenizer, 10 KB of one letter", `${(performance.now() - before).toFixed(1)} ms`);
  table.print();
}

async function replayedTurn() {
  const calls = turn(4900);
  const different = new Set(calls).size;
  const table = new Table(`one turn of VS Code's chat: ${calls.length} calls, ${different} different texts, ms`);
  const loading = [];
  for (const model of FAMILIES) {
    const cold = [];
    const warm = [];
    for (let round = 0; round < rounds; round++) {
      const fresh = await loadTokens(module);
      if (fresh.lacksVocabulary(model)) {
        const before = performance.now();
        fresh.loadVocabulary(vocabulary);
        loading.push(performance.now() - before);
      }
      fresh.countText(model, "", "a");
      for (const times of [cold, warm]) {
        const before = performance.now();
        for (const text of calls) fresh.countText(model, "", text);
        times.push(performance.now() - before);
      }
    }
    table.aim(`${model}, nothing cached`, `${median(cold).toFixed(2)} ms`, median(cold), { atMost: 25 });
    table.aim(`${model}, the same turn again`, `${median(warm).toFixed(2)} ms`, median(warm), { atMost: 3 });
  }
  const [peer] = await least(rounds, [{ run: () => calls.forEach((text) => countTokens(text, asText)) }]);
  table.info("gpt-tokenizer", `${peer.toFixed(2)} ms`);
  table.aim("loading Gemini's vocabulary, during which nothing else runs", `${median(loading).toFixed(1)} ms`, median(loading), {
    atMost: 50,
  });
  table.print();
}

/** The time from the bytes to the first count. */
async function start() {
  const times = [];
  for (let round = 0; round < rounds; round++) {
    const before = performance.now();
    const fresh = await loadTokens(bytes);
    fresh.countText(MODEL, "", "hello");
    times.push(performance.now() - before);
  }
  const memory = new WebAssembly.Instance(module).exports.memory.buffer.byteLength;
  const table = new Table("the token counter's module");
  table.info("gzipped", `${(gzipSync(bytes, { level: 9 }).length / 1e6).toFixed(2)} MB`);
  table.aim("from the bytes to the first count, ms", "", median(times), { atMost: 12 });
  table.aim("memory of the module with both vocabularies, MB", "", memory / 1e6, { atMost: 10 });
  table.print();
}
