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
// The last suite also searches the files of all others for the key.
const suites = { api, start, local, chat, thinking, commands, spend, hostile, proxy, web, sample, key };

/**
 * Failures of VS Code or of the browser that are known not to depend on the extension. Only these are worth a second
 * attempt: any other failure has to be explained.
 */
const NOT_OURS = [
  { pattern: SERVER_STOPPED, reason: "VS Code's server stopped" },
  { pattern: /Page crashed|Target crashed|Target page, context or browser has been closed/, reason: "the browser crashed" },
];

const setup = readSetup();
/** @type {{ suite: string, reason: string }[]} */
const repeated = [];
if (setup.only && !(setup.only in { ...suites, ...optional })) {
  console.error(`There is no suite called ${setup.only}; there are ${Object.keys(suites).join(", ")}.`);
  process.exit(1);
}
for (const [name, suite] of Object.entries(setup.only ? { ...suites, ...optional } : suites)) {
  if (setup.only && setup.only !== name) continue;
  for (const attempt of [1, 2]) {
    const before = results.length;
    const started = performance.now();
    const shots = path.join(setup.shots, name);
    fs.rmSync(shots, { recursive: true, force: true });
    fs.mkdirSync(shots, { recursive: true });
    try {
      await suite({ ...setup, shots });
    } catch (error) {
      add({ suite: name, name: "runs to its end", ok: false, ms: performance.now() - started, error: String(error) });
    }
    const errors = results.slice(before).flatMap((result) => (result.ok ? [] : [result.error ?? ""]));
    const reasons = errors.map((error) => NOT_OURS.find(({ pattern }) => error.search(pattern) >= 0)?.reason);
    const [reason] = reasons;
    if (attempt === 2 || reason === undefined || reasons.includes(undefined)) break;
    console.log(`   REPEATED: ${name}, because ${reason}`);
    repeated.push({ suite: name, reason });
    results.length = before;
    for (const figure of Object.keys(figures)) delete figures[figure];
  }
}
fs.writeFileSync(path.join(setup.work, "results.json"), JSON.stringify({ results, figures, repeated }, null, 2));
for (const [name, value] of Object.entries(figures)) console.log(`   ${String(value).padStart(10)}  ${name}`);
const failed = results.filter((result) => !result.ok).length;
console.log(`   ${results.length - failed} of ${results.length} checks passed; pictures are in ${path.relative(".", setup.shots)}`);
process.exit(failed || results.length === 0 ? 1 : 0);
