// The texts for benchmarks of token counters: this repository's own sources, and made-up prose and JSON that are the
// same on every machine.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Returns a generator of numbers below `limit`, always the same ones. */
function dice(seed) {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/** Every Rust and TypeScript file of the product, one document each. */
export function code() {
  const documents = [];
  const visit = (directory) => {
    for (const entry of readdirSync(directory, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(directory, entry.name);
      if (entry.isDirectory() && !["node_modules", "dist", "target"].includes(entry.name)) visit(path);
      else if (/\.(rs|ts)$/.test(entry.name)) documents.push(readFileSync(path, "utf8"));
    }
  };
  visit(join(root, "crates"));
  return documents;
}

const WORDS = `time year people way day man thing woman life child world school state family student group country problem hand
part place case week company system program question work government number night point home water room mother area money story
fact month lot right study book eye job word business issue side kind head house service friend father power hour game line end
member law car city community name president team minute idea kid body information back parent face others level office door health
person art war history party result change morning reason research girl guy moment air teacher force education the of and to in is
that it he was for on are as with his they at be this have from or had by hot but some what there we can out other were all your when
up use how said an each she which do their if will about many then them would write like so these her long make see him two has look
more could go come did my sound no most who over know than call first may down now find any new take get made live where after
unfortunately nevertheless understanding approximately characteristic infrastructure international responsibilities`.split(/\s+/);

/** A megabyte of sentences and paragraphs. */
export function prose() {
  const roll = dice(7);
  const documents = [];
  for (let document = 0; document < 64; document++) {
    let text = "";
    while (text.length < 16_000) {
      const length = 6 + roll(18);
      const words = Array.from({ length }, () => WORDS[Math.min(roll(WORDS.length), roll(WORDS.length))]);
      words[0] = words[0][0].toUpperCase() + words[0].slice(1);
      if (roll(3) === 0) words[roll(length - 1)] += ",";
      if (roll(9) === 0) words[roll(length)] = String(roll(3000));
      text += words.join(" ") + [".", ".", ".", "?", "!"][roll(5)] + (roll(6) === 0 ? "\n\n" : " ");
    }
    documents.push(text);
  }
  return documents;
}

/** Results of tools: records, as compact and as indented JSON. */
export function json() {
  const roll = dice(11);
  const word = () => WORDS[roll(WORDS.length)];
  return Array.from({ length: 64 }, (_, document) => {
    const rows = Array.from({ length: 60 }, (_, id) => ({
      id: document * 100 + id,
      name: `${word()}_${word()}`,
      path: `src/${word()}/${word()}.ts`,
      score: roll(10_000) / 1000,
      active: roll(2) === 0,
      tags: [word(), word()],
      hash: Array.from({ length: 5 }, () => roll(65_536).toString(16)).join(""),
      note: roll(4) === 0 ? null : Array.from({ length: 8 }, word).join(" "),
    }));
    return JSON.stringify(rows, null, document % 2 === 0 ? undefined : 2);
  });
}

/** An agent's tools: about forty, with nested arguments and long descriptions. */
function tools() {
  const roll = dice(13);
  const word = () => WORDS[roll(WORDS.length)];
  const sentence = (length) => `${Array.from({ length }, word).join(" ")}.`;
  const property = (depth) => {
    const kind = roll(depth > 1 ? 4 : 6);
    if (kind === 0) return { type: "string", description: sentence(6 + roll(20)), enum: [word(), word(), word()] };
    if (kind === 4) return { type: "array", description: sentence(8), items: { type: "string", description: sentence(6) } };
    if (kind === 5) return { type: "object", description: sentence(8), ...object(2 + roll(2), depth + 1) };
    return { type: ["string", "number", "boolean"][roll(3)], description: sentence(6 + roll(24)) };
  };
  const object = (count, depth) => {
    const names = Array.from({ length: count }, (_, index) => `${word()}${index}`);
    return { type: "object", properties: Object.fromEntries(names.map((name) => [name, property(depth)])), required: names.slice(1) };
  };
  return Array.from({ length: 40 }, (_, index) => ({
    name: `${word()}_${word()}_${index}`,
    description: sentence(30 + roll(60)),
    inputSchema: object(3 + roll(3), 0),
  }));
}

/**
 * The strings that VS Code's chat has counted in one turn: keys and values of every tool, then messages, repeatedly.
 */
export function turn(calls) {
  const strings = [];
  const visit = (value) => {
    if (typeof value === "string") strings.push(value);
    else if (Array.isArray(value)) value.forEach(visit);
    else if (value && typeof value === "object") {
      for (const [key, inner] of Object.entries(value)) {
        strings.push(key);
        visit(inner);
      }
    }
  };
  visit(tools());
  const messages = prose()
    .slice(0, 6)
    .map((text) => text.slice(0, 2000));
  const asked = [];
  while (asked.length < calls) asked.push(...strings, ...messages, ...messages, ...messages);
  return asked.slice(0, calls);
}
