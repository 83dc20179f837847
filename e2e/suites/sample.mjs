// The two providers from the adapter package's README, unchanged, in the Chat view.
import assert from "node:assert/strict";
import path from "node:path";
import { Chat } from "../lib/chat.mjs";
import { check } from "../lib/report.mjs";
import { startTap } from "../lib/tap.mjs";
import { finish, openWindow, startServer } from "../lib/vscode.mjs";

const PACKAGE = path.join(import.meta.dirname, "../../packages/stream-adapter");

/** @param {import('../lib/setup.mjs').Setup} setup */
export async function sample(setup) {
  const tap = await startTap(setup.gateway, {});
  const server = await startServer({
    ...setup,
    folder: path.join(setup.work, "sample"),
    // The package inside the samples is the only code of ours here.
    vsix: [],
    extensions: ["sample", "sample-ai-sdk"].map((name) => path.join(PACKAGE, name)),
    chatGroups: [
      { name: "Sluice sample", vendor: "sluice-sample" },
      { name: "Sluice SDK sample", vendor: "sluice-sdk-sample" },
    ],
    files: { "notes.md": "# Notes\n\nThe gate opens at noon.\n" },
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
    for (const [model, name] of [
      ["Sample", "a thirty-line provider"],
      ["AI SDK demo", "a thirty-line provider with the AI SDK"],
    ]) {
      await check("sample", `${name} lets the model use tools`, async () => {
        await view.startAfresh();
        await view.pick(model);
        const answer = await view.ask(`Please read the file ${server.workspace}/notes.md`);
        assert.match(answer, /Here is what read_file returned/);
        assert.match(answer, /The gate opens at noon\./);
        const { input, instructions } = tap.seen.findLast((seen) => seen.body?.tools?.length)?.body ?? {};
        const outputs = input.filter((/** @type {any} */ item) => item.type === "function_call_output");
        assert.match(JSON.stringify(outputs), /The gate opens at noon\./);
        // VS Code's own instructions arrive as instructions.
        assert.ok(instructions?.length > 100 || input.some((/** @type {any} */ item) => item.role === "system"), "no instructions");
      });
    }
  } finally {
    await window.page.screenshot({ path: path.join(setup.shots, "window.png") });
    await finish(setup, server, window);
    tap.close();
  }
}
