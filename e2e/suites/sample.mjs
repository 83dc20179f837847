// The thirty-line provider from the adapter package's README, unchanged, in the Chat view.
import assert from "node:assert/strict";
import path from "node:path";
import { Chat } from "../lib/chat.mjs";
import { check } from "../lib/report.mjs";
import { startTap } from "../lib/tap.mjs";
import { finish, openWindow, startServer } from "../lib/vscode.mjs";

const SAMPLE = path.join(import.meta.dirname, "../../packages/stream-adapter/sample");

/** @param {import('../lib/setup.mjs').Setup} setup */
export async function sample(setup) {
  const tap = await startTap(setup.gateway, {});
  const server = await startServer({
    ...setup,
    folder: path.join(setup.work, "sample"),
    // The package inside the sample is the only code of ours here.
    vsix: [],
    extensions: [SAMPLE],
    chatGroups: [{ name: "Sluice sample", vendor: "sluice-sample" }],
    env: { SAMPLE_BASE_URL: tap.url, SAMPLE_KEY: setup.key },
  });
  const window = await openWindow(server, setup);
  const view = new Chat(window.page);
  try {
    await check("sample", "a thirty-line provider answers in the Chat view", async () => {
      await view.open();
      await view.pick("Sample");
      const answer = await view.ask("Hello! Who are you?");
      assert.match(answer, /I am the Sluice demo: rules, not a language model\./);
    });
    await check("sample", "VS Code shows what the server counted", async () => {
      const usage = tap.seen.findLast((seen) => seen.body?.model === "sluice/demo" && seen.body.tools?.length)?.usage;
      assert.ok(usage?.total_tokens > 0, JSON.stringify(usage));
      await view.showsUsage(`${(usage.total_tokens / 1000).toFixed(1)}K / 108K tokens`);
    });
  } finally {
    await window.page.screenshot({ path: path.join(setup.shots, "window.png") });
    await finish(setup, server, window);
    tap.close();
  }
}
