// Runs the test suites in a real VS Code. `cargo xtask vscode` installs what this needs and runs it.
import fs from "node:fs";
import path from "node:path";
import { add, figures, results } from "./lib/report.mjs";
import { setup as readSetup } from "./lib/setup.mjs";
import { SERVER_STOPPED } from "./lib/vscode.mjs";
import { api } from "./suites/api.mjs";
import { chat } from "./suites/chat.mjs";
import { commands } from "./suites/commands.mjs";
import { foreign } from "./suites/foreign.mjs";
import { hostile } from "./suites/hostile.mjs";
import { inspector } from "./suites/inspector.mjs";
import { key } from "./suites/key.mjs";
import { local } from "./suites/local.mjs";
import { proxy } from "./suites/proxy.mjs";
import { sample } from "./suites/sample.mjs";
import { session } from "./suites/session.mjs";
import { spend } from "./suites/spend.mjs";
import { start } from "./suites/start.mjs";
import { thinking } from "./suites/thinking.mjs";
import { web } from "./suites/web.mjs";

/** Suites that need more than the embedded gateway, or that measure. They run only if they are named. */
const optional = { foreign, inspector, session };
// The last suite also searches the files of all others for the key, so it waits for them.
const suites = { api, start, local, chat, thinking, commands, spend, hostile, proxy, web, sample, key };

/**
 * Failures of VS Code or of the browser that are known not to depend on the extension. Only these are worth a second
 * attempt: any other failure has to be explained.
 */
const NOT_OURS = [
  { pattern: SERVER_STOPPED, reason: "VS Code's server stopped" },
  { pattern: /Page crashed|Target crashed|Target page, context or browser has been closed/, reason: "the browser crashed" },
];

/** How many suites run at the same time. Each has a server, a browser and a folder of its own, and often waits. */
const AT_ONCE = 2;

const setup = readSetup();
/** @type {Record<string, number>} how long each suite took, in milliseconds */
const times = {};
/** @type {{ suite: string, reason: string }[]} */
const repeated = [];
if (setup.only && !(setup.only in { ...suites, ...optional })) {
  console.error(`There is no suite called ${setup.only}; there are ${Object.keys(suites).join(", ")}.`);
  process.exit(1);
}
/**
 * Runs a suite, and once more if it failed for no reason of ours.
 * @param {string} name @param {(setup: import('./lib/setup.mjs').Setup) => Promise<unknown>} suite
 */
async function run(name, suite) {
  for (const attempt of [1, 2]) {
    const started = performance.now();
    const shots = path.join(setup.shots, name);
    fs.rmSync(shots, { recursive: true, force: true });
    fs.mkdirSync(shots, { recursive: true });
    try {
      await suite({ ...setup, shots });
    } catch (error) {
      add({ suite: name, name: "runs to its end", ok: false, ms: performance.now() - started, error: String(error) });
    }
    times[name] = performance.now() - started;
    const errors = results.flatMap((result) => (result.suite !== name || result.ok ? [] : [result.error ?? ""]));
    const reasons = errors.map((error) => NOT_OURS.find(({ pattern }) => error.search(pattern) >= 0)?.reason);
    const [reason] = reasons;
    if (attempt === 2 || reason === undefined || reasons.includes(undefined)) break;
    console.log(`   REPEATED: ${name}, because ${reason}`);
    repeated.push({ suite: name, reason });
    results.splice(0, results.length, ...results.filter((result) => result.suite !== name));
  }
}

const chosen = Object.entries(setup.only ? { ...suites, ...optional } : suites).filter(([name]) => !setup.only || setup.only === name);
const last = chosen.pop();
const queue = chosen.values();
const worker = async () => {
  for (const [name, suite] of queue) await run(name, suite);
};
await Promise.all(Array.from({ length: AT_ONCE }, worker));
if (last) await run(...last);
fs.writeFileSync(path.join(setup.work, "results.json"), JSON.stringify({ results, figures, repeated }, null, 2));
const slowest = Object.entries(times).toSorted(([, one], [, other]) => other - one);
console.log(`   seconds: ${slowest.map(([name, ms]) => `${name} ${Math.round(ms / 1000)}`).join(", ")}`);
for (const [name, value] of Object.entries(figures)) console.log(`   ${String(value).padStart(10)}  ${name}`);
const failed = results.filter((result) => !result.ok).length;
console.log(`   ${results.length - failed} of ${results.length} checks passed; pictures are in ${path.relative(".", setup.shots)}`);
process.exit(failed || results.length === 0 ? 1 : 0);
