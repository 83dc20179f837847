// Another extension uses the models through vscode.lm and checks the results; this suite starts it and collects them.
import fs from "node:fs";
import path from "node:path";
import { add, figures } from "../lib/report.mjs";
import { startTap } from "../lib/tap.mjs";
import { until } from "../lib/until.mjs";
import { finish, openWindow, startServer } from "../lib/vscode.mjs";

const here = import.meta.dirname;

/** @param {import('../lib/setup.mjs').Setup} setup */
export async function api(setup) {
  const faults = JSON.parse(fs.readFileSync(path.join(here, "../faults.json"), "utf8"));
  const tap = await startTap(setup.gateway, { models: [{ id: "sluice/demo+pace=0", like: "sluice/demo" }, ...faulty(faults)] });
  const results = path.join(setup.work, "api-results.jsonl");
  fs.rmSync(results, { force: true });
  const server = await startServer({
    ...setup,
    folder: path.join(setup.work, "api"),
    extensions: [...setup.extensions, path.join(here, "../consumer")],
    settings: { "sluice.idleTimeoutSeconds": 10 },
    env: {
      SLUICE_BASE_URL: tap.url,
      SLUICE_API_KEY: setup.key,
      SLUICE_E2E_RESULTS: results,
      SLUICE_E2E_TAP: tap.origin,
      SLUICE_E2E_FAULTS: JSON.stringify(faults),
      SLUICE_E2E_CATALOGUE: setup.catalogue,
    },
  });
  const window = await openWindow(server, setup);
  try {
    await collect("api", results);
  } finally {
    await window.page.screenshot({ path: path.join(setup.shots, "window.png") });
    await finish(setup, server, window);
    tap.close();
  }
}

/**
 * Reports the results of the other extension as its own, until that extension is done.
 * @param {string} suite @param {string} results the file in which it writes
 */
export async function collect(suite, results) {
  let running = "nothing, it never started";
  let told = 0;
  for (let isDone = false; !isDone; ) {
    const lines = await until(`the other extension reports progress (current check: ${running})`, () => {
      const whole = fs.existsSync(results) ? fs.readFileSync(results, "utf8").split("\n").slice(0, -1) : [];
      return whole.length > told && whole;
    });
    for (const line of lines.slice(told).map((text) => JSON.parse(text))) {
      running = line.running ?? running;
      if (line.result) add({ suite, ...line.result });
      isDone ||= line.figures !== undefined;
      Object.assign(figures, line.figures);
    }
    told = lines.length;
  }
}

/**
 * Models whose answer begins and then fails. They are slow, because VS Code drops parts that haven't been read yet when
 * an error arrives.
 */
const LATER = ["incomplete", "content-filter", "failed", "error"].map((name) => `sluice/${name}`);

/**
 * Returns a model for every fault.
 * @param {Record<string, { model: string, faults: string[] | Record<string, string> }>} kinds
 */
function faulty(kinds) {
  const later = LATER.map((like) => ({ id: `${like}+pace=60`, like }));
  const faults = Object.values(kinds).flatMap(({ model, faults }) => {
    return (Array.isArray(faults) ? faults : Object.keys(faults)).map((name) => ({ id: `${model}+${name}`, like: model }));
  });
  return [...faults, ...later];
}
