// The spend guard: an agent that works on its own is stopped at a limit, in one dialog, and continues if the user wants. Two
// windows that ask many questions at once stay below a limit together, also after both have crashed.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { Chat } from "../lib/chat.mjs";
import { COST, startPriced } from "../lib/priced.mjs";
import { check, figures } from "../lib/report.mjs";
import { until } from "../lib/until.mjs";
import { finish, openWindow, readSettings, startServer } from "../lib/vscode.mjs";

const ROUNDS = 6;
/** Enough for three answers. Each one reserves its cost before it is sent. */
const LIMIT = 1.3;

/** Enough for seven answers of all windows together. */
const SHARED_LIMIT = 3;

/** @param {import('../lib/setup.mjs').Setup} setup */
export async function spend(setup) {
  await asks(setup);
  await shared(setup);
}

/**
 * Two windows and, after they were killed, a third one.
 * @param {import('../lib/setup.mjs').Setup} setup
 */
async function shared(setup) {
  const folder = path.join(setup.work, "spend-shared");
  const results = path.join(setup.work, "spenders");
  fs.rmSync(results, { recursive: true, force: true });
  fs.mkdirSync(results);
  // The windows are killed while their requests are running.
  let release = () => {};
  const hold = /** @type {Promise<void>} */ (
    new Promise((resolve) => {
      release = resolve;
    })
  );
  const gateway = await startPriced({ hold });
  const start = {
    ...setup,
    folder,
    extensions: [...setup.extensions, path.join(import.meta.dirname, "../spender")],
    env: { SLUICE_BASE_URL: gateway.baseUrl, SLUICE_API_KEY: setup.key, SLUICE_E2E_SPENDERS: results },
    settings: { "sluice.spend.day": SHARED_LIMIT, "sluice.spend.hardStop": true },
  };
  let server = await startServer(start);
  let window = await openWindow(server, { ...setup, workspace: workspace(folder, "one") });
  const has = (/** @type {string} */ name) => fs.existsSync(path.join(results, name));
  const counts = (/** @type {string} */ name) => {
    const none = { answered: 0, rejected: 0, failed: [] };
    return has(`${name}.json`) ? JSON.parse(fs.readFileSync(path.join(results, `${name}.json`), "utf8")) : none;
  };
  const paid = () => gateway.counts.requests * COST;
  try {
    await check("spend", "two windows with forty requests at once stay below a limit together", async () => {
      const second = await window.page.context().newPage();
      await second.goto(`${server.url}?folder=${encodeURIComponent(workspace(folder, "two"))}`);
      await until("both windows are ready", () => has("one.ready") && has("two.ready"));
      fs.writeFileSync(path.join(results, "go"), "");
      await until("every request has been sent or rejected", () => {
        const all = ["one", "two"].map(counts);
        assert.deepEqual(
          all.flatMap(({ failed }) => failed),
          [],
        );
        return all[0].rejected + all[1].rejected + gateway.counts.requests === 40;
      });
      figures["requests sent of 40 in two windows, where 7 are allowed"] = gateway.counts.requests;
      assert.ok(paid() <= SHARED_LIMIT && paid() > 0, `${gateway.counts.requests} requests were sent`);
    });
    await check("spend", "what windows had reserved when they crashed still counts", async () => {
      const before = gateway.counts.requests;
      await server.stop();
      await window.close();
      release();
      server = await startServer({ ...start, keep: true });
      window = await openWindow(server, { ...setup, workspace: workspace(folder, "three") });
      await until("the third window has an answer to each question", () => counts("three").answered + counts("three").rejected === 20);
      const after = gateway.counts.requests - before;
      assert.ok(paid() <= SHARED_LIMIT, `${before} requests were sent before the crash, and ${after} after it`);
      assert.equal(counts("three").answered, after);
    });
  } finally {
    await finish(setup, server, window);
    gateway.close();
  }
}

/** Returns a folder that a window can open. @param {string} folder @param {string} name */
function workspace(folder, name) {
  const made = path.join(folder, "workspaces", name);
  fs.mkdirSync(made, { recursive: true });
  return made;
}

/**
 * An agent in the chat.
 * @param {import('../lib/setup.mjs').Setup} setup
 */
async function asks(setup) {
  const folder = path.join(setup.work, "spend");
  const gateway = await startPriced({ tool: "list_dir", input: { path: path.join(folder, "workspace") }, rounds: ROUNDS });
  const server = await startServer({
    ...setup,
    folder,
    files: { "a.txt": "a" },
    env: { SLUICE_BASE_URL: gateway.baseUrl, SLUICE_API_KEY: setup.key },
    settings: { "sluice.spend.day": LIMIT, "chat.agent.enabled": true },
  });
  const window = await openWindow(server, { ...setup, toasts: true });
  const { page } = window;
  const view = new Chat(page);
  const settings = path.join(server.folder, "user/User/settings.json");
  const dialog = page.locator(".monaco-dialog-box");
  const shot = (/** @type {string} */ name) => page.screenshot({ path: path.join(setup.shots, `${name}.png`) });
  try {
    await check("spend", "an agent is stopped by one dialog before it passes a limit", async () => {
      await view.open();
      await view.pick("Priced");
      await view.send("List the files.");
      await dialog.waitFor();
      await shot("1-dialog");
      assert.match(await dialog.innerText(), /The limit is for one day/);
      assert.ok(gateway.counts.answers * COST <= LIMIT, `${gateway.counts.answers} answers were paid for`);
      assert.ok(gateway.counts.answers >= 1);
      assert.equal(await dialog.count(), 1);
    });
    await check("spend", "stopping rejects the request with a sentence and a command", async () => {
      const before = gateway.counts.answers;
      await dialog.getByRole("button", { name: "Stop" }).click();
      await until("the answer has ended", async () => !(await view.streaming()));
      await shot("2-stopped");
      assert.match((await view.last.innerText()).replaceAll("\u2060", ""), /Raise the limit to go on\. "Sluice: Raise a Spend Limit"/);
      // Another question is rejected at once, without a dialog.
      assert.match(await view.ask("Again?"), /Raise the limit to go on/);
      assert.equal(await dialog.count(), 0);
      assert.equal(gateway.counts.answers, before);
    });
    await check("spend", "one command raises the limit, and the agent goes on", async () => {
      await view.command("Sluice: Raise a Spend Limit");
      const box = page.locator(".quick-input-widget input").first();
      await box.fill("100");
      await box.press("Enter");
      await until("the limit is raised", () => readSettings(settings)["sluice.spend.day"] === 100);
      assert.match(await view.ask("And now?"), /All done/);
      await shot("3-raised");
    });
    await check("spend", "nothing is reserved any more when the answers have been recorded", async () => {
      const reserved = path.join(server.folder, "user/User/globalStorage/sluice.sluice/spending");
      await until("the file is gone", () => fs.readdirSync(reserved).length === 0);
    });
  } finally {
    await finish(setup, server, window);
    gateway.close();
  }
}
