// The Chat view as a person sees it. The requests come from VS Code's built-in chat.
import assert from "node:assert/strict";
import path from "node:path";
import { Chat } from "../lib/chat.mjs";
import { check } from "../lib/report.mjs";
import { startTap } from "../lib/tap.mjs";
import { until } from "../lib/until.mjs";
import { finish, openWindow, startServer } from "../lib/vscode.mjs";

const QUICK = "sluice/demo+pace=0";

/** Models with one fault each and their own names. Without `pace=0`, the demo answers at reading speed. */
const MODELS = [
  { id: QUICK, like: "sluice/demo", name: "Quick Demo" },
  { id: "sluice/small+pace=0", like: "sluice/small", name: "Quick Small" },
  // Its server counts everything with 40 % more tokens than usual. The window leaves room for several questions.
  { id: `${QUICK}+tokens=140`, like: "sluice/small", name: "Dense Small", change: { context_window: 52_000 } },
  { id: "sluice/long+pace=200", like: "sluice/demo", name: "Slow talker" },
  { id: "sluice/demo+status=402", like: "sluice/demo", name: "Demo without credit" },
  { id: "sluice/empty+pace=0", like: "sluice/demo", name: "Demo without words" },
];

const CHAPTERS = [1, 2, 3, 4, 5, 6, 7];
const chapter = (/** @type {number} */ number) =>
  Array.from({ length: 100 }, (_, line) => `Line ${line}: in chapter ${number} the gate opens at noon and closes at ${line}.`).join("\n");

/** @param {import('../lib/setup.mjs').Setup} setup */
export async function chat(setup) {
  const tap = await startTap(setup.gateway, { models: MODELS });
  const server = await startServer({
    ...setup,
    folder: path.join(setup.work, "chat"),
    // VS Code identifies a model by vendor, group and id.
    settings: { "chat.utilityModel": `sluice/Sluice/${QUICK}`, "chat.utilitySmallModel": `sluice/Sluice/${QUICK}` },
    files: {
      "notes.md": "# Notes\n\nThe gate opens at noon.\n",
      ...Object.fromEntries(CHAPTERS.map((number) => [`chapter-${number}.md`, chapter(number)])),
    },
  });
  const window = await openWindow(server, setup);
  const { page } = window;
  const view = new Chat(page);
  /** Returns the agent requests for one model: those with tools. */
  const asked = (/** @type {string} */ model) => tap.seen.filter((seen) => seen.body?.model === model && seen.body.tools?.length);
  let picture = 0;
  const step = async (/** @type {string} */ name, /** @type {() => unknown} */ body) => {
    const ok = await check("chat", name, body);
    picture += 1;
    await page.screenshot({ path: path.join(setup.shots, `${String(picture).padStart(2, "0")}-${name.replace(/\W+/g, "-")}.png`) });
    // Nothing may cover the next step.
    if (!ok) await page.keyboard.press("Escape");
  };
  /** Reads chapters until VS Code summarizes the conversation, then one more. */
  const converse = async (/** @type {string} */ name) => {
    const model = MODELS.find((model) => model.name === name);
    const small = model?.id ?? "";
    await view.startAfresh();
    await view.pick(name);
    const summary = () => asked(small).find((seen) => JSON.stringify(seen.body.input.at(-1)).includes("<summary>"));
    let questions = 0;
    for (const number of CHAPTERS.slice(0, -1)) {
      const answer = await view.ask(`Please read the file ${server.workspace}/chapter-${number}.md`);
      assert.match(answer, new RegExp(`in chapter ${number} the gate opens at noon`));
      questions += 1;
      if (summary()) break;
    }
    const request = summary();
    assert.ok(request, `no summary was asked for; the last request had ${asked(small).at(-1)?.usage?.input_tokens} tokens`);
    assert.ok(questions >= 3, `the conversation is too short: it was summarized after ${questions} questions`);
    assert.equal(request.body.tool_choice, "none", "it is not recognized as a request for a summary");
    await until("the summary is written", () => request.ended);
    const before = Math.max(...asked(small).map((seen) => seen.usage?.input_tokens ?? 0));
    const answer = await view.ask(`Please read the file ${server.workspace}/chapter-${CHAPTERS.at(-1)}.md`);
    assert.match(answer, new RegExp(`in chapter ${CHAPTERS.at(-1)} the gate opens at noon`));
    const last = asked(small).at(-1);
    assert.match(JSON.stringify(last?.body.input), /What happened so far/, "the summary is not in the next request");
    assert.ok(last?.usage.input_tokens < before, `${last?.usage.input_tokens} tokens after, ${before} before`);
    assert.ok(!asked(small).some((seen) => seen.status === 400), "a request was too long");
    const limit = model?.change?.context_window ?? Number.POSITIVE_INFINITY;
    const counts = asked(small).map((seen) => seen.usage?.input_tokens ?? 0);
    assert.ok(Math.max(...counts) <= limit, `${counts.join(", ")} tokens, but the window has ${limit}`);
  };
  try {
    await step("without a key the demo answers and calls tools", async () => {
      await view.open();
      await view.pick("Sluice Demo");
      const answer = await view.ask(`Please read the file ${server.workspace}/notes.md`);
      assert.match(answer, /Here is what read_file returned/);
      assert.match(answer, /The gate opens at noon\./);
      assert.deepEqual(tap.seen, [], "the gateway was asked without a key");
    });
    await step("a key is entered in VS Code's own dialogs", async () => {
      await view.enterKey(setup.key, tap.url);
      await until("the list of models is fetched", () =>
        tap.seen.some((seen) => seen.path === "/v1/models" && seen.headers.authorization === `Bearer ${setup.key}`),
      );
    });
    await step("a model is picked", async () => {
      await view.closeModels();
      await view.startAfresh();
      await view.pick("Quick Small");
      await view.pick("Sluice Demo");
    });
    await step("it answers", async () => {
      const answer = await view.ask("Hello! Who are you?");
      assert.match(answer, /I am the Sluice demo: rules, not a language model\./);
      assert.match(answer, /\d+ tools are on offer right now\./);
    });
    await step("a running answer is stopped, and the connection closed", async () => {
      await view.pick("Slow talker");
      await view.send("Say 500 words");
      await view.last.getByText("water runs down").first().waitFor();
      await view.stop();
      const last = asked("sluice/long+pace=200").at(-1);
      await until("the connection is closed", () => last?.ended);
      assert.equal(last?.hungUp, true, "the connection stayed open until the end");
    });
    await step("a tool runs, and the model uses its result", async () => {
      await view.pick("Quick Demo");
      const answer = await view.ask(`Please read the file ${server.workspace}/notes.md`);
      assert.match(answer, /Here is what read_file returned/);
      assert.match(answer, /The gate opens at noon\./);
      const outputs = asked(QUICK)
        .at(-1)
        ?.body.input.filter((/** @type {any} */ item) => item.type === "function_call_output");
      assert.equal(outputs.length, 1);
      assert.match(JSON.stringify(outputs), /The gate opens at noon\./);
    });
    await step("the context indicator shows what the server reported", async () => {
      const { usage } = asked(QUICK).at(-1) ?? {};
      assert.ok(usage?.total_tokens > 1000, JSON.stringify(usage));
      await view.showsUsage(`${(usage.total_tokens / 1000).toFixed(1)}K / 200K tokens`);
    });
    await step("an error is shown in our words", async () => {
      await view.pick("Demo without credit");
      const answer = await view.ask("Hello?");
      assert.equal(answer.match(/The balance is used up; add credit to continue\./g)?.length, 1, answer);
      assert.doesNotMatch(answer, /\.js:\d|at async|\n\s+at /, "a stack is shown");
    });
    await step("an empty answer is explained", async () => {
      await view.pick("Demo without words");
      const answer = await view.ask("Say nothing");
      assert.doesNotMatch(answer, /no response was returned/i);
    });
    for (const { name, model } of [
      { name: "VS Code summarizes a long conversation, and it continues", model: "Quick Small" },
      { name: "VS Code summarizes in time for a server that counts more tokens", model: "Dense Small" },
    ]) {
      await step(name, () => converse(model));
    }
    await check("chat", "the window contacts no other host", () => assert.deepEqual([...window.foreign], []));
  } finally {
    await finish(setup, server, window);
    tap.close();
  }
}
