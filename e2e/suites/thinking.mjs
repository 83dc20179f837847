// Thinking in the Chat view, with models that are as strict about it as the real ones: it is shown without any setting,
// the effort in the picker is what the server gets, and the server accepts what comes back after ten rounds of tools, changes of
// models and a reload of the window.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { Chat } from "../lib/chat.mjs";
import { check } from "../lib/report.mjs";
import { startTap } from "../lib/tap.mjs";
import { until } from "../lib/until.mjs";
import { finish, openWindow, startServer } from "../lib/vscode.mjs";

/** VS Code shows the heading of the first block as the title. */
const SUMMARIES = ["There are 0 results.", "Going on", "That is all."];
/** What each model shows of its thinking. */
const SHOWN = {
  "OpenAI-like": SUMMARIES,
  "Anthropic-like": SUMMARIES,
  "DeepSeek-like": ["There are 0 results."],
  "vLLM-like": ["There are 0 results."],
};
/** What the server gets for each choice in the picker. The last one takes the others back. */
const EFFORTS = {
  Low: { effort: "low", summary: "auto" },
  High: { effort: "high", summary: "auto" },
  None: { effort: "none" },
  Default: { summary: "auto" },
};
const idOf = (/** @type {string} */ name) => `sluice/${name.toLowerCase()}`;

/** @param {import('../lib/setup.mjs').Setup} setup */
export async function thinking(setup) {
  const tap = await startTap(setup.gateway);
  const folder = path.join(setup.work, "thinking");
  const vault = path.join(folder, "user/User/globalStorage/sluice.sluice/vault");
  const server = await startServer({
    ...setup,
    folder,
    settings: { "chat.restoreLastPanelSession": true },
    env: { SLUICE_BASE_URL: tap.url, SLUICE_API_KEY: setup.key },
    files: { "notes.md": "# Notes\n\nThe gate opens at noon.\n" },
  });
  const notes = `${server.workspace}/notes.md`;
  const window = await openWindow(server, setup);
  const { page } = window;
  const view = new Chat(page);
  /** Returns the requests of a conversation with a model: those with tools. */
  const asked = (/** @type {string} */ model) => tap.seen.filter((seen) => seen.body?.model === model && seen.body.tools?.length);
  const kept = () => fs.readdirSync(vault).map((name) => fs.readFileSync(path.join(vault, name), "utf8"));
  let picture = 0;
  const step = async (/** @type {string} */ name, /** @type {() => unknown} */ body) => {
    await check("thinking", name, body);
    picture += 1;
    await page.screenshot({ path: path.join(setup.shots, `${String(picture).padStart(2, "0")}-${name.replace(/\W+/g, "-")}.png`) });
  };
  try {
    await view.open();
    for (const [name, shown] of Object.entries(SHOWN)) {
      await step(`${name} shows its thinking without any setting`, async () => {
        await view.startAfresh();
        await view.pick(name);
        const answer = await view.ask("Call nothing 0 times");
        assert.match(answer, /Here is what I found/);
        assert.deepEqual(await view.thinking(), shown);
        assert.deepEqual(asked(idOf(name)).at(-1)?.body.reasoning, { summary: "auto" }, "nobody chose an effort");
      });
    }
    await step("the effort in the picker is sent, and nothing if it is left alone", async () => {
      for (const name of Object.keys(SHOWN)) {
        await view.startAfresh();
        await view.pick(name);
        for (const [label, reasoning] of Object.entries(EFFORTS)) {
          await view.chooseEffort(label);
          await view.ask("Call nothing 0 times");
          const { body, status } = asked(idOf(name)).at(-1) ?? {};
          assert.deepEqual(body?.reasoning, reasoning, `${name} ${label}`);
          assert.equal(status, 200, `${name} ${label}`);
        }
      }
    });
    await step("two messages of an answer are two paragraphs", async () => {
      await view.startAfresh();
      await view.pick("OpenAI-like");
      await view.ask("Call nothing 0 times");
      const paragraphs = await view.last.locator(".value > .rendered-markdown p, .chat-markdown-part p").allInnerTexts();
      assert.equal(paragraphs.length, 2, JSON.stringify(paragraphs));
      assert.match(paragraphs.join("\n"), /^I will look at it first \(\w+\)\.\nHere is what I found/);
    });
    /** Checks that the server has accepted the requests of an answer, and returns the reasoning in the last one. */
    const accepted = (/** @type {string} */ name, /** @type {number} */ since) => {
      const requests = tap.seen.slice(since).filter((seen) => seen.body?.tools?.length);
      assert.ok(requests.length > 0);
      assert.deepEqual([...new Set(requests.map((seen) => seen.status))], [200], name);
      const last = asked(idOf(name)).at(-1)?.body.input;
      return last.filter((/** @type {any} */ item) => item.type === "reasoning");
    };
    await step("ten rounds of tools keep the reasoning of each model", async () => {
      await view.startAfresh();
      for (const name of Object.keys(SHOWN)) {
        const since = tap.seen.length;
        await view.pick(name);
        const answer = await view.ask(`Call read_file 10 times on ${notes}`);
        assert.match(answer, /Here is what I found/);
        // A model gets its own reasoning, and nobody else's.
        assert.equal(accepted(name, since).length, 10, name);
      }
    });
    await step("each model still has it after changes of models", async () => {
      for (const name of Object.keys(SHOWN)) {
        const since = tap.seen.length;
        await view.pick(name);
        const answer = await view.ask(`Call read_file 1 times on ${notes}`);
        assert.doesNotMatch(answer, /stopped early/);
        assert.equal(accepted(name, since).length, 12, name);
      }
    });
    await step("it is kept in a private folder", async () => {
      await until("it is saved", () => kept().some((text) => text.includes('"encrypted_content"')));
      assert.equal(fs.statSync(vault).mode & 0o777, 0o700, "others can read it");
    });
    await step("each model still has it after a reload of the window", async () => {
      await page.reload();
      await view.input.waitFor();
      // VS Code saves conversations from time to time, and loses the latest turns when its page is reloaded.
      await until("the ten rounds of each model are back", async () => (await view.length()) >= 2 * Object.keys(SHOWN).length);
      for (const name of Object.keys(SHOWN)) {
        const since = tap.seen.length;
        await view.pick(name);
        const answer = await view.ask(`Call read_file 1 times on ${notes}`);
        assert.doesNotMatch(answer, /stopped early/);
        // The reasoning of the ten calls, of the answer after them, of this call, and perhaps of the turn in between.
        assert.ok(accepted(name, since).length >= 12, name);
      }
    });
    await step("one command deletes it", async () => {
      await view.command("Sluice: Delete Remembered Reasoning");
      await until("nothing is left", () => kept().length === 1 && !kept()[0]?.includes("reasoning"));
    });
    await check("thinking", "the window contacts no other host", () => assert.deepEqual([...window.foreign], []));
  } finally {
    await finish(setup, server, window);
    tap.close();
  }
}
