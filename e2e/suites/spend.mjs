// The spend guard: an agent that works on its own is stopped at a limit, in one dialog, and continues if the user wants.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { Chat } from "../lib/chat.mjs";
import { COST, startPriced } from "../lib/priced.mjs";
import { check } from "../lib/report.mjs";
import { until } from "../lib/until.mjs";
import { finish, openWindow, readSettings, startServer } from "../lib/vscode.mjs";

const ROUNDS = 6;
/** Enough for three answers. Each one reserves its cost before it is sent. */
const LIMIT = 1.3;

/** @param {import('../lib/setup.mjs').Setup} setup */
export async function spend(setup) {
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
