// One conversation with a server that others wrote. `cargo xtask servers` starts it, with the model of xtask/servers/tiny_model.py.
import assert from "node:assert/strict";
import path from "node:path";
import { Chat } from "../lib/chat.mjs";
import { check } from "../lib/report.mjs";
import { startTap } from "../lib/tap.mjs";
import { finish, openWindow, startServer } from "../lib/vscode.mjs";

/** @param {import('../lib/setup.mjs').Setup} setup */
export async function foreign(setup) {
  const tap = await startTap(setup.imitated["foreign"] ?? "");
  const server = await startServer({ ...setup, folder: path.join(setup.work, "foreign") });
  const window = await openWindow(server, { ...setup, toasts: true });
  const { page } = window;
  const view = new Chat(page);
  const toast = (/** @type {string} */ text) => page.locator(".notification-toast", { hasText: text });
  try {
    await check("foreign", "a new user enters its address", async () => {
      await toast("Sluice is installed.").getByText("Use a Local Server", { exact: true }).click();
      await page.locator(".quick-input-widget input").first().fill(tap.origin);
      await page.keyboard.press("Enter");
      await toast("New chats start with").getByText("Start Chatting", { exact: true }).click();
    });
    await check("foreign", "it answers", async () => {
      await view.open();
      assert.match(await view.ask("Hello!"), /Yes, I am a tiny model\./);
      await page.screenshot({ path: path.join(setup.shots, "answer.png") });
    });
    await check("foreign", "its thinking is shown", async () => {
      assert.match(await view.ask("Please think first"), /I have thought about it\./);
      assert.ok((await view.thinking()).includes("Let me see."));
      await page.screenshot({ path: path.join(setup.shots, "thinking.png") });
    });
    await check("foreign", "an answer that doesn't end can be stopped", async () => {
      await view.send("Go on forever");
      await view.stop();
      assert.match(await view.ask("Hello again"), /Yes, I am a tiny model\./);
    });
  } finally {
    await finish(setup, server, window);
    tap.close();
  }
}
