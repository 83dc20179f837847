// Servers without a key, and addresses without encryption: what the user is asked, and what is sent before the answer.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as vscode from "vscode";

import { FAKED, KEY, shown, start } from "./harness.js";
import { fake } from "./vscode.js";

const HOSTS = [
  "localhost:11434",
  "localhost:4000",
  "localhost:8787",
  "127.0.0.1:11434",
  "192.168.1.5:11434",
  "nas:8080",
  "10.0.0.7:8000",
  "[fd00::7]:11434",
];
HOSTS.forEach((host) => FAKED.add(`http://${host}`));
const LIST = { object: "list", data: [{ id: "llama3.2:latest", object: "model", created: 1_700_000_000, owned_by: "library" }] };
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A server that lists one model for requests with one of these keys. */
const lists =
  (...keys: (string | null)[]) =>
  (url: string, init: RequestInit): Response => {
    if (!url.endsWith("/models")) {
      return Response.json({}, { status: 404 });
    }
    const isValid = keys.includes(new Headers(init.headers).get("authorization"));
    return isValid ? Response.json(LIST) : Response.json({ error: { message: "No key" } }, { status: 401 });
  };
const OPEN = lists(null);
const isReal = ({ url }: { readonly url: string }): boolean => !url.startsWith("https://demo.invalid/");

const offered = async (): Promise<string[]> =>
  ((await fake.resolveModels()) as { id: string; isUserSelectable: boolean }[]).flatMap((model) =>
    model.isUserSelectable ? [model.id] : [],
  );

test("a server on this machine needs an address and nothing else", async () => {
  const { run, secrets, sent } = await start({ intercept: OPEN });
  const seen = await run("addServer", "localhost:11434", "Start Chatting");
  assert.deepEqual(seen, [
    "input: Use a Local Server: Type the address of a server, such as localhost:11434 for Ollama, and press Enter.",
    'info: Sluice: The connection "localhost:11434" works; 1 of its models can chat. New chats start with llama3.2:latest.',
  ]);
  assert.deepEqual(await offered(), ["llama3.2:latest"]);
  assert(sent.length > 0 && sent.every(({ url, key }) => url.startsWith("http://localhost:11434/") && key === null));
  assert.match(JSON.stringify([...secrets.kept]), /localhost:11434/);
  assert.deepEqual(fake.executed.at(-1), [
    "workbench.action.chat.open",
    { query: "", modelSelector: { vendor: "sluice", id: "llama3.2:latest" } },
  ]);
});

test("the address that works is kept, and once", async () => {
  const belowV1 = (url: string, init: RequestInit): Response =>
    url === "http://localhost:4000/models" ? Response.json({ detail: "Not Found" }, { status: 404 }) : OPEN(url, init);
  const { run, secrets } = await start({ intercept: belowV1 });
  for (let time = 0; time < 2; time++) {
    const seen = await run("addServer", "localhost:4000", undefined);
    assert.match(seen.at(-1)!, /^info: Sluice: The connection "localhost:4000" works; 1 of its models can chat/);
    assert.deepEqual(await offered(), ["llama3.2:latest"]);
  }
  assert.match(JSON.stringify([...secrets.kept]), /localhost:4000\/v1/);
});

test("a server's own model with the demo's id answers instead of the demo", async () => {
  const { run, sent, provider } = await start();
  await fake.resolveModels();
  await run("addServer", "localhost:8787", undefined);
  const models = (await provider.provideLanguageModelChatInformation({ silent: true }, {})).filter(({ id }) => id === "sluice/demo");
  assert.equal(models.length, 1);
  const message = { role: 1, content: [new vscode.LanguageModelTextPart("hello")], name: undefined };
  const token = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose: () => undefined }) };
  await provider.provideLanguageModelChatResponse(models[0], [message], { toolMode: 1 }, { report: () => undefined }, token);
  assert(sent.some(({ url }) => url === "http://localhost:8787/v1/responses"));
});

test("an address without encryption is used after the user has agreed once", async () => {
  const { run, restart, sent } = await start({ intercept: OPEN });
  const asked = "warning: Nothing is encrypted on the way to http://192.168.1.5:11434: everybody in between can read the chats.";
  const refused = await run("addServer", "http://192.168.1.5:11434/v1", undefined, undefined);
  assert.deepEqual(refused.slice(1), [asked, "invalid: Nothing was sent. Use https, or another address."]);
  assert.deepEqual(sent.filter(isReal), []);
  const agreed = await run("addServer", "http://192.168.1.5:11434/v1", "Use This Address", undefined);
  assert.equal(agreed[1], asked);
  assert.match(agreed[2]!, /^info: Sluice: The connection "192\.168\.1\.5:11434" works; 1 of its models can chat/);
  await restart();
  fake.seen = [];
  assert.deepEqual(await offered(), ["llama3.2:latest"]);
  assert.deepEqual(fake.seen, [], "the user isn't asked again");
  assert.deepEqual((await run("addServer", "http://192.168.1.5:11434/v1", undefined)).slice(1, 2), agreed.slice(2));
  assert.deepEqual(await offered(), ["llama3.2:latest"], "the same server isn't added twice");
});

test("a key for an address without encryption needs the user's agreement of its own", async () => {
  const { run, sent } = await start({ intercept: lists("Bearer local-canary-key") });
  const seen = await run(
    "addServer",
    "http://nas:8080/v1",
    "Use This Address",
    "local-canary-key",
    undefined,
    "local-canary-key",
    "Use This Address",
    undefined,
  );
  const asked = "warning: Nothing is encrypted on the way to http://nas:8080: everybody in between can read the key and the chats.";
  assert.deepEqual(seen.slice(2, -1), [
    "input: Add a Key: Paste a key for nas:8080 and press Enter. It is checked before it is kept.",
    asked,
    "invalid: Nothing was sent. Use https, or another address.",
    asked,
  ]);
  assert.match(seen.at(-1)!, /^info: Sluice: The connection "nas:8080" works/);
  assert.deepEqual(await offered(), ["llama3.2:latest"]);
  assert(sent.some(({ key }) => key === null) && sent.some(({ key }) => key !== null));
});

test("a group in Manage Models may have no key", async () => {
  const group = { baseUrl: "http://127.0.0.1:11434/v1" };
  const { chat, sent } = await start({ configuration: group });
  await fake.resolveModels();
  assert((await offered()).includes("sluice/echo"));
  const { parts, error } = await chat(group, "hello");
  assert(error === undefined && shown(parts).length > 0);
  assert(sent.some(({ url }) => url === "http://127.0.0.1:11434/v1/responses"));
  assert(sent.every(({ url, key }) => key === null && (!isReal({ url }) || url.startsWith("http://127.0.0.1:11434/v1/"))));
  assert.deepEqual(fake.seen, []);
});

test("a group with an address elsewhere and no key is used after the user has confirmed it", async () => {
  const group = { apiKey: "  ", baseUrl: "https://llm.example/v1" };
  const { provider, run, sent, chat } = await start({ configuration: group });
  const list = () => provider.provideLanguageModelChatInformation({ silent: true, configuration: group }, {});
  fake.answers = [undefined];
  await assert.rejects(list(), /^Error: Nothing is sent to .*llm\.example, because you have not confirmed that address/);
  await settled();
  assert.match(fake.seen[0]!, /^warning: Sluice: Chats will be sent to .*llm\.example without a key\./);
  await assert.rejects(list(), /not confirmed/);
  assert.equal(fake.seen.length, 1, "the notification appears once");
  const ours = () => sent.filter(isReal);
  assert.deepEqual(ours(), []);
  const [question, result] = await run("refreshModels", "Use This Address");
  assert.equal(question, "warning: Chats will be sent to https://llm.example without a key.");
  assert.match(result!, /^info: Sluice: \d+ models can chat\.$/);
  const { parts, error } = await chat(group, "hello");
  assert(error === undefined && shown(parts).length > 0);
  assert(ours().length > 0 && ours().every(({ url, key }) => url.startsWith("https://llm.example/") && key === null));
});

test("a group without encryption is used after the user has confirmed it, with its key and without", async () => {
  const at = "http://10.0.0.7:8000/v1";
  const groups = [{ baseUrl: at }, { apiKey: KEY, baseUrl: at }];
  const { run, restart, sent } = await start({ configuration: groups, intercept: lists(null, `Bearer ${KEY}`) });
  fake.answers = [undefined, undefined];
  assert.deepEqual(await offered(), ["sluice/demo"]);
  await settled();
  assert.deepEqual(
    fake.seen.map((text) => text.replaceAll("\u2060", "")),
    [
      "warning: Sluice: Nothing is encrypted on the way to http://10.0.0.7:8000: everybody in between can read the chats.",
      "warning: Sluice: Nothing is encrypted on the way to http://10.0.0.7:8000: everybody in between can read the key and the chats.",
    ],
  );
  assert.deepEqual(sent.filter(isReal), []);
  await run("refreshModels", "Use This Address", "Send the Key There");
  assert.deepEqual(new Set(sent.filter(isReal).map(({ key }) => key)), new Set([null, `Bearer ${KEY}`]));
  await restart();
  fake.seen = [];
  await fake.resolveModels();
  assert.equal((await offered()).length, 2);
  assert.deepEqual(fake.seen, []);
});

test("a service that is known to need a key isn't asked without one", async () => {
  const group = { apiKey: "" };
  const { provider, sent, run } = await start({ configuration: group });
  const list = provider.provideLanguageModelChatInformation({ silent: true, configuration: group }, {});
  await assert.rejects(list, /ai-gateway\.vercel\.sh needs a key\./);
  const seen = await run("addServer", "https://ai-gateway.vercel.sh/v1", undefined);
  assert.equal(seen[1], "invalid: https://ai-gateway.vercel.sh needs a key.");
  assert.deepEqual(sent.filter(isReal), []);
});

test("a server that can't be reached or lists nothing is kept if the user insists", async () => {
  const { run, secrets } = await start({ intercept: () => Response.json({}, { status: 404 }) });
  const [, invalid] = await run("addServer", "localhost:4000/v1", "localhost:4000/v1");
  assert.match(invalid!, /^invalid: .* Press Enter again to keep it anyway\.$/);
  assert.match(JSON.stringify([...secrets.kept]), /localhost:4000/);
});

test("the environment can name a server without a key and without encryption", async () => {
  const { run, sent } = await start({ environment: { SLUICE_BASE_URL: "http://[fd00::7]:11434/v1" }, intercept: OPEN });
  fake.answers = [undefined];
  assert.deepEqual(await offered(), ["sluice/demo"]);
  assert.deepEqual(sent.filter(isReal), []);
  const [question] = await run("refreshModels", "Use This Address");
  assert.match(
    question!,
    /^warning: Nothing is encrypted on the way to http:\/\/\[fd00::7\]:11434: everybody in between can read the chats\.$/,
  );
  assert.deepEqual(await offered(), ["llama3.2:latest"]);
});
