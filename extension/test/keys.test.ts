// Adding, checking, changing and removing keys, and confirming their addresses.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as vscode from "vscode";

import { KEY, keyed, LOCAL, start } from "./harness.js";
import { fake } from "./vscode.js";

interface Listed {
  readonly id: string;
  readonly name: string;
  readonly isUserSelectable: boolean;
}

/** A server that accepts some keys. */
const accepts =
  (...keys: string[]) =>
  (_url: string, init: RequestInit): Response | undefined => {
    const key = new Headers(init.headers).get("authorization")?.replace("Bearer ", "");
    return key !== undefined && keys.includes(key)
      ? undefined
      : Response.json({ error: { message: "Wrong key", type: "authentication_error" } }, { status: 401 });
  };

const offered = async (): Promise<string[]> =>
  ((await fake.resolveModels()) as Listed[]).filter(({ isUserSelectable }) => isUserSelectable).map(({ id }) => id);
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("a key is checked before it is kept, and is sent to its own origin", async () => {
  const { run, sent, secrets } = await start({ intercept: accepts("good-canary-key") });
  const seen = await run("addKey", "bad-canary-key", "good-canary-key", undefined);
  assert.deepEqual(seen.slice(0, 2), [
    "input: Add a Key: Paste a key for ai-gateway.vercel.sh and press Enter. It is checked before it is kept.",
    "invalid: Wrong key. Enter a valid API key.",
  ]);
  assert.match(
    seen[2]!,
    /^info: Sluice: The connection "ai-gateway\.vercel\.sh" works; \d+ of its models can chat\. New chats start with .+\.$/,
  );
  assert(sent.every(({ url }) => url.startsWith("https://ai-gateway.vercel.sh/v1/")));
  assert((await offered()).length > 3);
  assert(!JSON.stringify([...secrets.kept]).includes("bad-canary-key"));
  assert(!(fake.logged.join() + fake.seen.join() + [...fake.files.values()].join()).includes("canary-key"));
});

test("the first key makes new chats start with a model that suits", async () => {
  const { run } = await start();
  await run("addKey", "good-canary-key", "Start Chatting");
  const id = fake.settings.get("chat.defaultModel") as string;
  assert((await offered()).includes(id));
  assert.deepEqual(fake.executed.at(-1), ["workbench.action.chat.open", { query: "", modelSelector: { vendor: "sluice", id } }]);
  fake.settings.set("chat.defaultModel", "mine");
  const seen = await run("addKey", "$(add) Add a Key", "other-canary-key", "Choose Another Model", undefined);
  assert.match(seen.at(-2)!, /models can chat\.$/, "new chats don't start with one of them");
  assert.equal(fake.settings.get("chat.defaultModel"), "mine", "the user's own choice stays");
});

test("a key from the environment or from Manage Models also makes new chats start with a model that suits", async () => {
  for (const options of [
    { environment: { SLUICE_API_KEY: "good-canary-key" } },
    { configuration: { apiKey: "good-canary-key", baseUrl: "https://ai-gateway.vercel.sh/v1" } },
  ]) {
    const { restart } = await start(options);
    const models = (await fake.resolveModels()) as { id: string; model: { isDefault: boolean } }[];
    await settled();
    const suitable = models.find(({ model }) => model.isDefault)?.id;
    assert(suitable !== undefined);
    assert.equal(fake.settings.get("chat.defaultModel"), suitable);
    // A user who doesn't want one isn't asked again.
    fake.settings.delete("chat.defaultModel");
    await restart();
    await fake.resolveModels();
    await settled();
    assert.equal(fake.settings.get("chat.defaultModel"), undefined);
  }
});

test("a key for a server that can't be reached is kept if the user insists", async () => {
  const { run, secrets } = await start({ intercept: () => new TypeError("fetch failed", { cause: { code: "ENOTFOUND" } }) });
  const [, invalid] = await run("addKey", "good-canary-key", "good-canary-key");
  assert.match(invalid!, /^invalid: No connection to https:\/\/ai-gateway\.vercel\.sh\..* Press Enter again to keep it anyway\.$/);
  assert.match(JSON.stringify([...secrets.kept]), /good-canary-key/);
  assert.deepEqual(await offered(), ["sluice/demo"], "the demo stays available");
});

test("a key can be for another address, and the page with the keys can be opened", async () => {
  const { run, sent } = await start();
  const address = "Use another address than https://ai-gateway.vercel.sh";
  const seen = await run(
    "addKey",
    "Open the page with your keys",
    address,
    "nonsense",
    "https://mine.example/v1",
    "mine-canary-key",
    undefined,
  );
  assert.match(seen.find((text) => text.startsWith("invalid: "))!, /does not start with https/);
  assert.deepEqual(fake.executed[1], ["open", "https://vercel.com/d?to=%2F%5Bteam%5D%2F%7E%2Fai-gateway%2Fapi-keys"]);
  assert.deepEqual([...new Set(sent.map(({ url }) => new URL(url).origin))], ["https://mine.example"]);
});

test("keys are renamed, replaced and removed", async () => {
  const { run, secrets, sent } = await start();
  const host = "$(key) ai-gateway.vercel.sh";
  await run("addKey", "first-canary-key", undefined);
  await run("addKey", host, "$(edit) Rename", "Work");
  await run("addKey", "$(key) Work", "$(key) Change the Key", "second-canary-key", undefined);
  sent.length = 0;
  await run("refreshModels");
  assert(sent.length > 0 && sent.every(({ key }) => key === "Bearer second-canary-key"));
  await run("addKey", "$(key) Work", "$(trash) Remove", "Remove");
  assert.equal(secrets.kept.size, 0);
  assert.deepEqual(await offered(), ["sluice/demo"]);
});

/** What each version kept, in its own form. */
const KEPT_BY_VERSION = [[{ name: "Work", baseUrl: "https://ai-gateway.vercel.sh/v1", key: "old-canary-key" }]];

test("keys that any older version kept are used", async () => {
  for (const kept of KEPT_BY_VERSION) {
    const { run, secrets, sent } = await start();
    await secrets.store("keys", JSON.stringify(kept));
    await run("refreshModels");
    assert(sent.length > 0 && sent.every(({ key }) => key === "Bearer old-canary-key"));
    await run("addKey", "$(key) Work", "$(edit) Rename", "Home");
    const now = JSON.parse(secrets.kept.get("keys")!) as unknown;
    assert.deepEqual(now, [{ ...KEPT_BY_VERSION.at(-1)![0], name: "Home" }], "add what the new version keeps to the list above");
  }
});

test("keys that a newer version keeps are left alone", async () => {
  const { run, secrets } = await start();
  const newer = JSON.stringify({ version: 2, keys: [] });
  await secrets.store("keys", newer);
  const seen = await run("addKey", "good-canary-key");
  assert.match(seen.at(-1)!, /^error: Sluice: A newer version of Sluice keeps the keys/);
  assert.equal(secrets.kept.get("keys"), newer);
});

test("a binding that an older version stored still holds", async () => {
  const { chat, state, restart, sent } = await start(keyed);
  const { configuration } = keyed;
  assert.equal((await chat(configuration, "Hello")).error, undefined);
  const bindings = state.get("keyOrigins") as { [fingerprint: string]: string[] };
  assert(Object.values(bindings).every(Array.isArray), "the form of this version");
  // The first version stored one origin for each key.
  state.set("keyOrigins", Object.fromEntries(Object.entries(bindings).map(([fingerprint, [origin]]) => [fingerprint, origin])));
  await restart();
  const before = sent.length;
  assert.equal((await chat(configuration, "Hello again")).error, undefined);
  assert(sent.length > before && fake.mistakes.length === 0);
});

test("models of several keys can be told apart", async () => {
  const { run } = await start();
  await run("addKey", "first-canary-key", undefined);
  await run("addKey", "$(add) Add a Key", "second-canary-key", undefined);
  const models = ((await fake.resolveModels()) as Listed[]).filter(({ id }) => id.startsWith("sluice/echo"));
  assert.deepEqual(
    models.map(({ id, name }) => [id, name.replace(/^.*\(/, "(")]),
    [
      ["sluice/echo", models[0]!.name],
      ["sluice/echo#ai-gateway.vercel.sh-2", "(ai-gateway.vercel.sh 2)"],
    ],
  );
});

test("each key has its own list of models", async () => {
  const good = { ...keyed.configuration, apiKey: "good-canary-key" };
  const { provider } = await start({ configuration: [good, keyed.configuration], intercept: accepts("good-canary-key") });
  const list = (configuration: object) => provider.provideLanguageModelChatInformation({ silent: true, configuration }, {});
  assert((await list(good)).length > 3);
  fake.answers = [undefined];
  await assert.rejects(list(keyed.configuration), /Wrong key/);
  await assert.rejects(list(keyed.configuration), /Wrong key/);
  assert.equal(fake.seen.length, 1, "the user is told once");
  assert.match(fake.seen[0]!, /^error: Sluice: gateway\.example: Wrong key\./);
});

test("a refused key of a group in Manage Models is replaced", async () => {
  const { provider, sent, run } = await start({ ...keyed, intercept: accepts("new-canary-key") });
  const list = () => provider.provideLanguageModelChatInformation({ silent: true, configuration: keyed.configuration }, {});
  fake.answers = ["Change the Key", "new-canary-key", undefined];
  await assert.rejects(list(), /Wrong key/);
  // The user is asked twice, as soon as the modules are loaded.
  while (fake.answers.length > 0) {
    await settled();
  }
  sent.length = 0;
  assert((await list()).length > 3);
  await run("refreshModels");
  assert(sent.length > 0 && sent.every(({ key }) => key === "Bearer new-canary-key"));
});

test("a refused key is reported in the chat and in a notification", async () => {
  const { chat } = await start({
    ...keyed,
    intercept: (url) => (url.endsWith("/responses") ? Response.json({ error: { message: "Wrong key" } }, { status: 401 }) : undefined),
  });
  fake.answers = [undefined];
  const { error } = await chat(keyed.configuration, "hello");
  assert.match(error!.message, /^Wrong key\. .*"Sluice: Add or Change a Key" in the command palette replaces the key\.$/);
  assert.match(fake.seen[0]!, /^error: Sluice: gateway\.example: Wrong key\./);
});

test("an error links to our page about it, and to nothing that a server wrote", async () => {
  const vercel = { apiKey: KEY, baseUrl: "https://ai-gateway.vercel.sh/v1" };
  const message = "Pay at [here](https://evil.example)";
  const { chat } = await start({
    configuration: vercel,
    intercept: (url) => (url.endsWith("/responses") ? Response.json({ error: { message } }, { status: 402 }) : undefined),
  });
  const { error } = await chat(vercel, "hello");
  assert.match(error!.message, / \[Open the page for it\]\(https:\/\/vercel\.com\/d\?to=%2F%5Bteam%5D%2F%7E%2Fai-gateway\)$/);
  assert.doesNotMatch(error!.message.replace(/ \[Open.*/, ""), /\]\(|:\/\/\w/);
});

test("a key goes to a second address after the user has confirmed it, and to this machine without a question", async () => {
  const at = (baseUrl: string) => ({ apiKey: KEY, baseUrl });
  const groups = [at("https://one.example/v1"), at("https://two.example/v1"), at(`${LOCAL}/v1`)];
  const { run, sent, provider, state } = await start({ configuration: groups });
  const origins = () => [...new Set(sent.filter(({ key }) => key !== null).map(({ url }) => new URL(url).origin))];
  // VS Code asks for one group after the other.
  await provider.provideLanguageModelChatInformation({ silent: true, configuration: groups[0] }, {});
  fake.answers = [undefined];
  await fake.resolveModels();
  assert.deepEqual(origins().sort(), [LOCAL, "https://one.example"]);
  const asked = "So far, this key was used with https://one.example. Now it would be sent to https://two.example.";
  assert.deepEqual(
    fake.seen.map((text) => text.replaceAll("\u2060", "")),
    [`warning: Sluice: ${asked}`],
  );
  await assert.rejects(
    provider.provideLanguageModelChatInformation({ silent: true, configuration: groups[1] }, {}),
    /Nothing is sent to .*two\.example, because you have not confirmed that address/,
  );
  const [question, result] = await run("refreshModels", "Send the Key There");
  assert.equal(question, `warning: ${asked}`);
  assert.match(result!, /^info: Sluice: \d+ models can chat\.$/);
  assert.deepEqual(Object.values(state.get("keyOrigins") as object), [["https://one.example", "https://two.example"]]);
});

test("the notification about a second address confirms it too", async () => {
  const at = (host: string) => ({ apiKey: KEY, baseUrl: `https://${host}/v1` });
  const { provider, sent, changes } = await start({ configuration: [at("one.example"), at("two.example")] });
  const list = (host: string) => provider.provideLanguageModelChatInformation({ silent: true, configuration: at(host) }, {});
  await list("one.example");
  fake.answers = ["Send the Key There"];
  const before = changes();
  await assert.rejects(list("two.example"), /not confirmed/);
  await settled();
  assert(changes() > before, "VS Code asks again");
  assert((await list("two.example")).length > 0);
  assert(sent.some(({ url, key }) => url.startsWith("https://two.example/") && key !== null));
});

test("a new user is greeted once, with the next step", async () => {
  const { provider } = await start({ isNew: true });
  fake.answers = ["Show Me Around"];
  await fake.resolveModels();
  await settled();
  assert.match(fake.seen[0]!, /^info: Sluice is installed\./);
  assert.deepEqual(fake.executed[0], ["sluice.openWalkthrough"]);
  await provider.provideLanguageModelChatInformation({ silent: true }, {});
  assert.equal(fake.seen.length, 1);
});

test("the demo is offered while no server can be used, and answers a chat that still uses it", async () => {
  const list = { data: [{ id: "acme/one" }] };
  const { provider, run } = await start({ intercept: (url) => (url.endsWith("/models") ? Response.json(list) : undefined) });
  const [demo] = await provider.provideLanguageModelChatInformation({ silent: true }, {});
  await run("addKey", "good-canary-key", undefined);
  assert.deepEqual(await offered(), ["acme/one"]);
  const parts: unknown[] = [];
  const message = { role: 1, content: [new vscode.LanguageModelTextPart("hello")], name: undefined };
  const token = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose: () => undefined }) };
  await provider.provideLanguageModelChatResponse(demo, [message], { toolMode: 1 }, { report: (part: unknown) => parts.push(part) }, token);
  assert(parts.length > 0);
  const down = await start({ ...keyed, intercept: () => new TypeError("fetch failed") });
  assert.deepEqual(await offered(), ["sluice/demo"]);
  await assert.rejects(down.provider.provideLanguageModelChatInformation({ silent: true, ...keyed }, {}), /No connection/);
});

test("a server that doesn't answer doesn't keep the demo from the picker", async (context) => {
  const { setTimeout } = globalThis;
  // Ten seconds pass at once.
  context.mock.method(globalThis, "setTimeout", (run: () => void, ms: number) => setTimeout(run, ms === 10_000 ? 0 : ms));
  let answer = (_response: Response): void => undefined;
  const never = new Promise<Response>((resolve) => (answer = resolve));
  const { provider, changes } = await start({ ...keyed, intercept: (url) => (url.endsWith("/models") ? never : undefined) });
  await assert.rejects(provider.provideLanguageModelChatInformation({ silent: true, ...keyed }, {}), /has not answered yet/);
  const before = changes();
  answer(Response.json({ data: [{ id: "acme/one" }] }));
  for (let turn = 0; changes() === before; turn++) {
    assert(turn < 1_000, "VS Code isn't told");
    await settled();
  }
  assert.equal((await provider.provideLanguageModelChatInformation({ silent: true, ...keyed }, {}))[0]!.id, "acme/one");
});

test("a key from the environment is changed there, whichever variable has it", async () => {
  const { run } = await start({ environment: { SLUICE_API_KEY: "environment-canary-key" } });
  const seen = await run("addKey", "$(key) Environment");
  assert.match(seen.at(-1)!, /^info: Sluice: this key is in VS Code's environment, in one of the variables SLUICE_API_KEY, /);
});
