// Runs the test suites in a real VS Code. `cargo xtask vscode` installs what this needs and runs it.
import fs from "node:fs";
import path from "node:path";
import { add, figures, results } from "./lib/report.mjs";
import { setup as readSetup } from "./lib/setup.mjs";
import { api } from "./suites/api.mjs";
import { chat } from "./suites/chat.mjs";
import { commands } from "./suites/commands.mjs";
import { hostile } from "./suites/hostile.mjs";
import { key } from "./suites/key.mjs";
import { proxy } from "./suites/proxy.mjs";
import { sample } from "./suites/sample.mjs";
import { web } from "./suites/web.mjs";

// The last suite also searches the files of all others for the key.
const suites = { api, chat, commands, hostile, proxy, web, sample, key };

const setup = readSetup();
if (setup.only && !(setup.only in suites)) {
  console.error(`There is no suite called ${setup.only}; there are ${Object.keys(suites).join(", ")}.`);
  process.exit(1);
}
for (const [name, suite] of Object.entries(suites)) {
  if (setup.only && setup.only !== name) continue;
  // A window that is driven from outside can miss a click, so a suite is repeated once. A real failure occurs twice.
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
    if (attempt === 2 || results.slice(before).every((result) => result.ok)) break;
    console.log(`   repeating ${name} because of the failure above`);
    results.length = before;
    for (const figure of Object.keys(figures)) delete figures[figure];
  }
}
fs.writeFileSync(path.join(setup.work, "results.json"), JSON.stringify({ results, figures }, null, 2));
for (const [name, value] of Object.entries(figures)) console.log(`   ${String(value).padStart(10)}  ${name}`);
const failed = results.filter((result) => !result.ok).length;
console.log(`   ${results.length - failed} of ${results.length} checks passed; pictures are in ${path.relative(".", setup.shots)}`);
process.exit(failed || results.length === 0 ? 1 : 0);
