// Measures when words are on the screen of a real VS Code: `cargo xtask bench --screen`.
//
// A server sends numbered words at an even pace, or at times that vary as those of real answers do. For each word, the time from the moment it is written to the socket to
// its appearance in the Chat view counts; both clocks are this machine's. Sluice and VS Code's own Custom Endpoint
// provider answer in turns, in the same window. Below each, the model of the Chat view says what it expects; the pacer was
// tuned with that model, so the two have to agree.
import { execFileSync } from "node:child_process";
import http from "node:http";
import path from "node:path";
import { Chat } from "./lib/chat.mjs";
import { setup as readSetup } from "./lib/setup.mjs";
import { finish, openWindow, startServer } from "./lib/vscode.mjs";

/**
 * @typedef {object} Case
 * @property {number} spacing milliseconds between words
 * @property {number} words
 * @property {boolean} [uneven] whether the times vary
 * @property {(number | undefined)[]} aims of Sluice: the first word, the median, the 95th percentile and the median of the last third
 */

/** @type {Case[]} the Chat view as it is by default, with answers of 3, 10 and 30 seconds */
const DEFAULT_VIEW = [
  ...[200, 667, 2000].map((words) => ({ spacing: 15, words, aims: [65, 290, 410, 290] })),
  ...[136, 455, 1364].map((words) => ({ spacing: 22, words, aims: [65, 290, 410, 290] })),
  { spacing: 5, words: 200, aims: [65, undefined, 230] },
  { spacing: 60, words: 50, aims: [65, 55] },
  { spacing: 22, words: 454, uneven: true, aims: [65, 400] },
];
/** @type {Case[]} */
const INCREMENTAL_VIEW = [
  { spacing: 15, words: 667, aims: [65, 90, 135] },
  { spacing: 5, words: 200, aims: [65, 90, 135] },
  { spacing: 60, words: 50, aims: [65, 90, 135] },
];
const RUNS = 5;

const word = (/** @type {number} */ index) => `w${String(index).padStart(4, "0")}`;
const idOf = (/** @type {Case} */ { spacing, words, uneven }) => `pace/${spacing}-${words}${uneven ? "-uneven" : ""}`;

/** Starts the server. `times` has the times of the words of the last answer to a request with tools. */
async function startPacing() {
  const pacing = { url: "", times: /** @type {number[]} */ ([]) };
  const server = http.createServer(async (request, response) => {
    if (request.method === "GET") {
      const data = [...DEFAULT_VIEW, ...INCREMENTAL_VIEW].map((one) => ({
        id: idOf(one),
        name: `Sluice ${one.spacing} ms ${one.words}`,
        type: "language",
        context_window: 200_000,
      }));
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ object: "list", data }));
      return;
    }
    let text = "";
    for await (const chunk of request) text += chunk;
    const body = JSON.parse(text);
    const [spacing = 15, words = 1] = String(body.model).match(/\d+/g)?.map(Number) ?? [];
    response.setHeader("content-type", "text/event-stream");
    const send = (/** @type {any} */ event) => response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    const item = { id: "msg_1", type: "message", role: "assistant", status: "in_progress", content: [] };
    const at = { item_id: "msg_1", output_index: 0, content_index: 0 };
    send({ type: "response.created", response: { id: "resp_1", model: body.model, status: "in_progress", output: [] } });
    send({ type: "response.output_item.added", output_index: 0, item });
    const times = /** @type {number[]} */ ([]);
    if (body.tools?.length) pacing.times = times;
    let due = performance.now();
    const gap = String(body.model).endsWith("-uneven") ? unevenGaps(spacing) : () => spacing;
    for (let index = 0; index < words && !response.destroyed; index++, due += gap()) {
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
      times.push(Date.now());
      send({ type: "response.output_text.delta", ...at, delta: `${word(index)} ` });
    }
    const whole = Array.from({ length: words }, (_, index) => `${word(index)} `).join("");
    const output = [{ ...item, status: "completed", content: [{ type: "output_text", text: whole, annotations: [] }] }];
    const usage = { input_tokens: 1000, output_tokens: words, total_tokens: 1000 + words };
    send({ type: "response.output_item.done", output_index: 0, item: output[0] });
    send({ type: "response.completed", response: { id: "resp_1", model: body.model, status: "completed", output, usage } });
    response.end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  pacing.url = `http://127.0.0.1:${address.port}/v1`;
  return pacing;
}

/** Returns a source of gaps between independent arrivals, the same ones for every answer. @param {number} spacing */
function unevenGaps(spacing) {
  let state = 3;
  return () => {
    state = (state * 48_271) % 0x7fff_ffff;
    return -spacing * Math.log(state / 0x7fff_ffff);
  };
}

/** Notes in the page when each word of the last answer first appears. @param {any} page */
async function watch(page) {
  await page.evaluate(() => {
    const seen = /** @type {number[]} */ ([]);
    /** @type {any} */ (globalThis).observer?.disconnect();
    const observer = new MutationObserver(() => {
      const rows = document.querySelectorAll('.interactive-list .monaco-list-row[data-last-element="true"] .interactive-response');
      const text = rows[rows.length - 1]?.textContent ?? "";
      while (text.includes(`w${String(seen.length).padStart(4, "0")}`)) seen.push(Date.now());
    });
    observer.observe(document.body, { childList: true, subtree: true, characterData: true });
    Object.assign(globalThis, { observer, wordsSeen: seen });
  });
}

/** @param {number[]} values @param {number} part */
const quantile = (values, part) => values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? NaN;

/**
 * Asks one model and returns how late the words of the answer were.
 * @param {any} page @param {Chat} view @param {string} provider @param {Case} one
 */
async function measure(page, view, provider, one) {
  await view.startAfresh();
  await view.pick(`${provider} ${one.spacing} ms ${one.words}`);
  await watch(page);
  await view.ask("Count");
  const seen = await page.waitForFunction((/** @type {number} */ words) => {
    const { wordsSeen } = /** @type {any} */ (globalThis);
    return wordsSeen.length >= words && wordsSeen;
  }, one.words);
  const late = /** @type {number[]} */ (await seen.jsonValue()).map((time, index) => time - (pacing.times[index] ?? NaN));
  return [late[0] ?? NaN, quantile(late, 0.5), quantile(late, 0.95), quantile(late.slice(-late.length / 3), 0.5)];
}

/**
 * Returns the figures that the model of the Chat view expects for each provider.
 * @param {Case} one
 */
function modelOf({ spacing, words }) {
  const lines = execFileSync(process.env.SLUICE_SCREEN_MODEL ?? "", [String(spacing), String(words)], { encoding: "utf8" });
  return lines
    .trim()
    .split("\n")
    .map((line) => line.split(" ").map(Number));
}

/**
 * Measures in a new VS Code and prints a table. With `modelled`, it adds what the model of the Chat view
 * expects, which exists for VS Code's default settings only.
 * @param {string} title @param {Case[]} cases @param {Record<string, unknown>} settings
 */
async function run(title, cases, settings, modelled = false) {
  const models = cases.map((one) => ({
    id: idOf(one),
    name: `Built-in ${one.spacing} ms ${one.words}`,
    url: `${pacing.url}/responses`,
    toolCalling: true,
    vision: false,
    maxInputTokens: 128_000,
    maxOutputTokens: 16_000,
  }));
  const server = await startServer({
    ...setup,
    folder: path.join(setup.work, "screen"),
    settings,
    chatGroups: [{ vendor: "customendpoint", name: "Built-in", apiKey: "none", apiType: "responses", models }],
    env: { SLUICE_BASE_URL: pacing.url, SLUICE_API_KEY: setup.key },
  });
  const window = await openWindow(server, setup);
  try {
    const view = new Chat(window.page);
    await view.open();
    // The first answers wait for code that is loaded once.
    for (const provider of PROVIDERS) await measure(window.page, view, provider, cases[0]);
    const columns = ["first", "p50", "p95", "last third"].map((name) => name.padStart(12));
    console.log(`\n${title.padEnd(48)}${columns.join("")}   aims`);
    for (const one of cases) {
      const runs = /** @type {Record<string, number[][]>} */ ({ Sluice: [], "Built-in": [] });
      // They take turns, so that a busy machine slows both down.
      for (let round = 0; round < (quick ? 1 : RUNS); round++) {
        for (const provider of PROVIDERS) runs[provider].push(await measure(window.page, view, provider, one));
      }
      const model = modelled && !one.uneven && modelOf(one);
      for (const [index, provider] of PROVIDERS.entries()) {
        const figures = columns.map((_, column) =>
          quantile(
            runs[provider].map((figures) => figures[column] ?? NaN),
            0.5,
          ),
        );
        const aims = provider === "Sluice" ? one.aims : [];
        const missed = aims.some((aim, column) => aim !== undefined && !(figures[column] <= aim));
        const verdict = aims.length > 0 ? `   <= ${aims.map((aim) => aim ?? "-").join(", ")}  ${missed ? "MISSED" : "ok"}` : "";
        const row = (/** @type {string} */ name, /** @type {number[]} */ cells) =>
          name.padEnd(48) + cells.map((cell) => String(Math.round(cell)).padStart(12)).join("");
        const pace = `${one.uneven ? "unevenly " : ""}every ${one.spacing} ms`;
        console.log(row(`${one.words} words, one ${pace}: ${provider}`, figures) + verdict);
        if (model?.[index]) console.log(row("   in the model", model[index]));
      }
    }
  } finally {
    await finish(setup, server, window);
  }
}

const PROVIDERS = ["Sluice", "Built-in"];
const setup = readSetup();
const quick = setup.only === "quick";
const pacing = await startPacing();
console.log("milliseconds from the server to the screen, medians of the runs");
const chosen = (/** @type {Case[]} */ cases) =>
  cases.filter(({ spacing, words }) => (!quick || words <= 200) && (!setup.spacing || spacing === Number(setup.spacing)));
await run("VS Code's default view", chosen(DEFAULT_VIEW), {}, true);
if (chosen(INCREMENTAL_VIEW).length === 0) process.exit(0);
await run("with incremental rendering", chosen(INCREMENTAL_VIEW), {
  "chat.experimental.incrementalRendering.enabled": true,
  "chat.experimental.incrementalRendering.buffering": "off",
});
process.exit(0);
