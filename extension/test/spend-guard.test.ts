// The spend guard: the user is asked once before a request would pass a limit, and no window forgets the others.

import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

import { records } from "../../e2e/lib/records.mjs";
import { keyed, start, streamed } from "./harness.js";
import { fake } from "./vscode.js";

/** A model whose answers cost $1.00 each, according to the gateway, and $0.70 to $2.00 according to its prices. */
const MODEL = {
  id: "acme/priced",
  type: "language",
  context_window: 100_000,
  max_tokens: 1_000,
  pricing: { input: "0.00001", output: "0.001" },
};
let answers = 0;
const intercept = (url: string): Response | undefined => {
  if (url.endsWith("/models")) {
    return Response.json({ data: [MODEL] });
  }
  if (!url.endsWith("/responses")) {
    return undefined;
  }
  answers += 1;
  const usage = { input_tokens: 20, output_tokens: 1_000 };
  return streamed(
    { type: "response.created", response: { id: "r" } },
    { type: "response.output_text.delta", item_id: "m", output_index: 0, content_index: 0, delta: "Hello" },
    { type: "response.completed", response: { id: "r", status: "completed", usage } },
  );
};

/** Starts the extension with limits, and returns a function that asks the model something. */
async function guarded(limits: { readonly [name: string]: unknown }) {
  answers = 0;
  const { chat, run, restart } = await start({ ...keyed, intercept });
  Object.entries(limits).forEach(([name, value]) => fake.settings.set(`sluice.spend.${name}`, value));
  const say = async (...replies: (string | undefined)[]): Promise<string> => {
    fake.answers = replies;
    fake.seen = [];
    const { error } = await chat(keyed.configuration, "Hello", undefined, { _conversationId: "talk" });
    return [...fake.seen, ...(error === undefined ? [] : [`error: ${error.message}`])].join("\n").replaceAll("\u2060", "");
  };
  return { say, run, restart };
}

test("without a limit, nothing is asked and nothing is reserved", async () => {
  const { say } = await guarded({});
  assert.equal(await say(), "");
  assert.deepEqual(
    [...fake.files.keys()].filter((name) => name.includes("spending")),
    [],
  );
});

test("at a limit the user is asked once, and can continue the conversation", async () => {
  const { say } = await guarded({ request: 0.1 });
  assert.match(
    await say("Continue This Conversation"),
    /^warning: This request may cost up to \$.* the limit for one request is \$0\.10\./,
  );
  assert.equal(answers, 1);
});

test("a user who stops gets a sentence and a command to go on", async () => {
  const { say, run } = await guarded({ day: 0.5 });
  assert.match(await say("Stop"), /error: .*The limit is for one day\. Raise the limit to go on\. "Sluice: Raise a Spend Limit"/);
  assert.equal(answers, 0);
  // The next request is stopped without a question.
  assert.match(await say(), /^error: /);
  await run("raiseLimit", "20");
  assert.equal(fake.settings.get("sluice.spend.day"), 20);
  assert.equal(await say(), "");
  assert.equal(answers, 1);
});

test("raising the limit in the dialog sends the request", async () => {
  const { say } = await guarded({ models: { "acme/priced": { month: 0.5 } } });
  assert.match(await say("Raise the Limit", "0.1", "30"), /invalid: Enter an amount of more than \$0\.5\./);
  assert.deepEqual(fake.settings.get("sluice.spend.models"), { "acme/priced": { month: 30 } });
  assert.equal(answers, 1);
});

test("a hard stop asks nothing", async () => {
  const { say } = await guarded({ day: 0.5, hardStop: true });
  assert.match(await say(), /^error: /);
  assert.equal(answers, 0);
});

test("near a limit there is one quiet warning", async () => {
  const { say } = await guarded({ month: 1.1 });
  const first = await say();
  assert.match(first, /^warning: Sluice: \$.* of a limit of \$1\.10 is spent or reserved\. The limit is for one month\.$/);
  assert.equal(answers, 1);
});

test("what other windows have reserved counts, also if they crashed", async () => {
  const { say } = await guarded({ day: 5, hardStop: true });
  const today = Math.floor(Date.now() / 86_400_000);
  const reserved = { day: today, model: "acme/other", conversation: "elsewhere", amount: 4.9 };
  fake.files.set("/storage/spending/c0.1.reserved", new TextEncoder().encode(`${JSON.stringify(reserved)}\n`));
  assert.match(await say(), /^error: /);
  assert.equal(answers, 0);
  fake.files.set("/storage/spending/c0.1.reserved", new TextEncoder().encode(JSON.stringify({ ...reserved, day: today - 40 })));
  assert.equal(await say(), "");
  assert(!fake.files.has("/storage/spending/c0.1.reserved"), "a file of an earlier month is deleted");
});

test("a request that has just ended is recorded when VS Code closes, although the module is still loading", async () => {
  const { say, restart } = await guarded({});
  await say();
  await restart();
  const kept = [...fake.files.keys()].filter((name) => /^\/storage\/(memory|records)/.test(name));
  assert.deepEqual(kept.map((name) => name.replace(/-.*|\/\d+-.*/, "")).sort(), ["/storage/memory", "/storage/records"]);
});

test("a limit holds after a restart", async () => {
  const { say, restart } = await guarded({ day: 3.2, hardStop: true });
  assert.equal(await say(), "");
  const provider = await restart();
  const [model] = await provider.provideLanguageModelChatInformation({ silent: true, configuration: keyed.configuration }, {});
  assert.equal(model!.id, "acme/priced");
  assert.equal(answers, 1);
  fake.settings.set("sluice.spend.day", 1.5);
  assert.match(await say(), /^error: /);
});

test("all requests of a conversation count after a restart, however many others there were", async () => {
  const { say, restart } = await guarded({ conversation: 2.5, hardStop: true });
  assert.equal(await say(), "");
  await say();
  assert.equal(answers, 2);
  await restart();
  records(10, Date.now()).forEach((record, index) => {
    fake.files.set(`/storage/records/${Date.now() + index}-x.gz`, gzipSync(JSON.stringify(record)));
  });
  assert.match(await say(), /^error: .*The limit is for this conversation\./);
  assert.equal(answers, 2);
});
