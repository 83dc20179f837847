// Tests the whole extension with the real WebAssembly modules and a mock of VS Code. The embedded gateway plays the
// server.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as vscode from "vscode";

import { linkFree } from "../src/link-free.js";
import { KEY, keyed, manifest, start } from "./harness.js";
import { EventEmitter, fake } from "./vscode.js";

test("activation loads nothing and sends nothing", async () => {
  const { sent } = await start();
  assert.deepEqual(sent, []);
  assert.deepEqual(
    [...fake.files.keys()].filter((path) => path.startsWith("/storage")),
    [],
  );
});

test("without a key there is the demo, and commands say how to continue", async () => {
  const { run } = await start();
  const models = (await fake.resolveModels()) as { id: string; name: string }[];
  assert.deepEqual(
    models.map(({ id }) => id),
    ["sluice/demo"],
  );
  for (const command of ["refreshModels", "chooseDefaultModel", "testConnection"]) {
    const [seen] = await run(command, "Add a Key", undefined);
    assert.match(seen!, /^info: Sluice: there is no key yet/);
    assert.deepEqual(fake.executed.at(-1), ["sluice.addKey"]);
  }
});

test("the demo disappears when there is a key and comes back without one", async (context) => {
  const later: (() => void)[] = [];
  const { setTimeout } = globalThis;
  context.mock.method(globalThis, "setTimeout", (run: () => void, ms: number) => (ms === 1_000 ? later.push(run) : setTimeout(run, ms)));
  const { provider, changes } = await start();
  const round = async (...groups: object[]): Promise<{ shown: string[]; asksAgain: boolean }> => {
    const before = changes();
    const shown: string[] = [];
    for (const configuration of [undefined, ...groups]) {
      const all = await provider.provideLanguageModelChatInformation({ silent: true, configuration }, {});
      const models = all.filter(({ isUserSelectable }) => isUserSelectable);
      shown.push(models.some(({ id }) => id === "sluice/demo") ? (models.length === 1 ? "demo" : "all") : "none");
    }
    later.splice(0).forEach((run) => run());
    return { shown, asksAgain: changes() > before };
  };
  const group = keyed.configuration;
  await round();
  assert.deepEqual(await round(), { shown: ["demo"], asksAgain: false });
  assert.deepEqual(await round(group), { shown: ["demo", "all"], asksAgain: true });
  await round(group);
  assert.deepEqual(await round(group), { shown: ["none", "all"], asksAgain: false });
  assert.deepEqual(await round(), { shown: ["none"], asksAgain: true });
  assert.deepEqual(await round(), { shown: ["demo"], asksAgain: false });
  await assert.rejects(round({ apiKey: "" }), /needs a key/);
});

/** Returns the rows of the card that is shown: `✓ Address`, for example. */
function cardRows(): string[] {
  const rows = fake.panels.at(-1)!.webview.html.matchAll(/>(.)<\/span><\/td><th scope="row">([^<]*)/g);
  return [...rows].map(([, mark, label]) => `${mark} ${label}`);
}

test("a good connection gets a card, and the key is sent to its origin only", async () => {
  const { run, sent } = await start(keyed);
  fake.settings.set("sluice.models.default", "sluice/openai-like");
  const seen = await run("testConnection", "Copy Details");
  assert.deepEqual(seen, ['info: Sluice: The connection "gateway.example" works.']);
  assert.match(fake.progress.join("\n"), /^Testing gateway\.example\nThe test sends at most \d+ short requests/);
  assert.match(
    fake.clipboard,
    /^Sluice \d+\.\d+\.\d+, VS Code 1\.139\.1: gateway\.example\nhttps:\/\/gateway\.example\/v1 sluice\/openai-like\n/,
  );
  assert.deepEqual(cardRows(), [
    "✓ Address",
    "✓ Encryption",
    "✓ Proxy",
    "✓ Models",
    "✓ Key",
    "✓ Answer",
    "✓ Instructions",
    "✓ Earlier messages",
    "✓ Images",
    "✓ Streaming",
    "✓ Token counts",
    "✓ Output limit",
    "✓ Tool calls",
    "✓ Parallel calls",
    "✓ Tool results",
    "✓ Images in results",
    "✓ Summaries",
    "– Plain thinking",
    "✓ Encrypted thinking",
    "✓ Thinking returned",
    "✓ Phases",
    "✓ Prompt cache",
    "✓ Context window",
    "✓ Cancelling",
    "✓ Errors",
  ]);
  assert(sent.length > 3 && sent.every(({ url }) => url.startsWith("https://gateway.example/")));
});

test("what a server refuses in a test is left out of later requests", async () => {
  const { run, provider } = await start(keyed);
  fake.settings.set("sluice.models.default", "sluice/openai-unverified");
  await run("testConnection", undefined);
  assert.match(fake.panels.at(-1)!.webview.html, /leave out `reasoning.summary`, which the server refuses/);
  const models = (await provider.provideLanguageModelChatInformation(keyed, {})) as unknown as {
    model: { id: string; refused: string[] };
  }[];
  assert.deepEqual(models.find(({ model }) => model.id === "sluice/openai-unverified")!.model.refused, ["reasoningSummary"]);
});

test("a card is a page without scripts, and server text in it is text", async () => {
  const hostile = '<script>alert(1)</script><a href="command:x">[click](command:x)</a> https://evil.example';
  const { run } = await start({
    ...keyed,
    intercept: (url) => (url.endsWith("/responses") ? Response.json({ error: { message: hostile } }, { status: 400 }) : undefined),
  });
  await run("testConnection", undefined);
  const { html } = fake.panels.at(-1)!.webview;
  assert.match(html, /Content-Security-Policy" content="default-src 'none'; style-src 'nonce-[\w-]+'"/);
  assert.match(html, /&#60;script&#62;alert/);
  assert.doesNotMatch(html, /<(script|a|img|iframe|form|link|object)\b/i);
});

test("a problem is reported at the step where it occurs", async () => {
  const failing: [what: string, intercept: (url: string) => Response | Error | undefined, said: RegExp][] = [
    [
      "no such host",
      () => new TypeError("fetch failed", { cause: { code: "ENOTFOUND" } }),
      /^error: Sluice: Address: No connection to https:\/\/gateway\.example\. .*No server has that name.*\(ENOTFOUND\)$/,
    ],
    [
      "refused, as Electron says it",
      () => new TypeError("net::ERR_CONNECTION_REFUSED"),
      /Address: .*nothing is listening on that port\. \(ERR_CONNECTION_REFUSED\)$/,
    ],
    [
      "a certificate",
      () => new TypeError("fetch failed", { cause: { code: "SELF_SIGNED_CERT_IN_CHAIN" } }),
      /Encryption: .*certificate is not trusted/,
    ],
    [
      "a redirect",
      () => new Response(null, { status: 302, headers: { location: "https://evil.example" } }),
      /Address: .*redirects to another address, and the key must not follow/,
    ],
    ["no API there", () => new Response("<html>", { status: 404, headers: { "content-type": "text/html" } }), /^error: Sluice: Models: /],
    [
      "a list of nothing",
      (url) => (url.endsWith("/models") ? Response.json({ data: [] }) : undefined),
      /Models: The server lists no model that chats/,
    ],
    [
      "a wrong key",
      (url) =>
        url.endsWith("/credits")
          ? Response.json({ error: { message: `Invalid key: ${KEY}`, type: "authentication_error" } }, { status: 401 })
          : undefined,
      /^error: Sluice: Key: Invalid key: \[hidden\]\./,
    ],
    [
      "a model that is gone",
      (url) =>
        url.endsWith("/responses") ? Response.json({ error: { message: "Gone", type: "model_not_found" } }, { status: 404 }) : undefined,
      /^error: Sluice: Answer: Gone\./,
    ],
  ];
  for (const [what, intercept, said] of failing) {
    const { run } = await start({ ...keyed, intercept });
    // If the key is wrong, listing the models says so first.
    const seen = await run("testConnection", ...(what === "a wrong key" ? [undefined, undefined] : [undefined]));
    assert.match(seen.at(-1)!, said, what);
    assert(!(fake.logged.join() + seen.join()).includes(KEY), what);
  }
  // Not every server has credits. In that case, the answer proves that the key works.
  const { run } = await start({ ...keyed, intercept: (url) => (url.endsWith("/credits") ? new Response("", { status: 404 }) : undefined) });
  await run("testConnection", undefined);
  assert.deepEqual(cardRows().slice(4, 6), ["? Key", "✓ Answer"]);
});

test("an invalid address is reported, and nothing is sent", async () => {
  const { run, sent } = await start({ configuration: { apiKey: KEY, baseUrl: "http://gateway.example/v1" } });
  assert.match((await run("testConnection", undefined))[0]!, /^error: Sluice: Address: The base URL must be https/);
  assert.deepEqual(sent, []);
});

test("the default model is written into the user's settings, and taken out again", async () => {
  const { run, changes } = await start(keyed);
  const before = changes();
  const [picked] = await run("chooseDefaultModel", "Long");
  assert.match(picked!, /^pick: Choose the Default Model: /);
  assert.equal(fake.settings.get("sluice.models.default"), "sluice/long");
  await new Promise((resolve) => setImmediate(resolve));
  assert(changes() > before, "VS Code is told");
  const [again] = await run("chooseDefaultModel", "None: leave it to Sluice");
  assert.match(again!, /\$\(check\) Long/);
  assert.equal(fake.settings.get("sluice.models.default"), undefined);
});

test("refreshing reports how many models there are, or why there are none", async () => {
  const good = await start(keyed);
  assert.match((await good.run("refreshModels"))[0]!, /^info: Sluice: \d+ models can chat\.$/);
  const bad = await start({ ...keyed, intercept: () => new Response("no", { status: 500 }) });
  assert.match((await bad.run("refreshModels", undefined))[0]!, /^warning: Sluice: gateway\.example: /);
});

test("a report says what happened and contains nothing private", async () => {
  const { run, provider } = await start(keyed);
  fake.settings.set("sluice.extraHeaders", { "x-team": "header-canary" });
  fake.settings.set("sluice.models.hidden", ["openai/*"]);
  await fake.resolveModels();
  const models = await provider.provideLanguageModelChatInformation({ silent: true, configuration: keyed.configuration }, {});
  const parts: unknown[] = [];
  const respond = (
    provider as unknown as { provideLanguageModelChatResponse(...values: unknown[]): Promise<void> }
  ).provideLanguageModelChatResponse.bind(provider);
  const token = { isCancellationRequested: false, onCancellationRequested: new EventEmitter<void>().event };
  const message = { role: 1, content: [new vscode.LanguageModelTextPart("prompt-canary")], name: undefined };
  await respond(
    models.find(({ id }) => id === "sluice/echo") ?? models[0]!,
    [message],
    { toolMode: 1 },
    { report: (part: unknown) => parts.push(part) },
    token,
  );
  assert(parts.length > 0);

  const [seen] = await run("exportReport");
  const report = JSON.parse(seen!.replace(/^document: /, "")) as { [name: string]: unknown };
  assert.deepEqual(report["settings"], {
    "sluice.baseUrl": "https://ai-gateway.vercel.sh/v1",
    "sluice.models.hidden": ["openai/*"],
    "sluice.extraHeaders": { "x-team": "[hidden]" },
  });
  assert.equal(report["sluice"], manifest.version);
  assert.match(JSON.stringify(report["connections"]), /"list":"fresh","models":\d+/);
  assert.match(JSON.stringify(report["log"]), /completed, \d+ tokens in, \d+ out/);
  for (const canary of [KEY, "header-canary", "prompt-canary", process.env["HOME"] ?? "/root"]) {
    assert(!seen!.includes(canary), canary);
  }
  assert(!fake.logged.join().includes("prompt-canary"));
});

test("settings that can't work are reported once, with a link to the setting", async () => {
  const { run } = await start();
  fake.settings.set("sluice.baseUrl", "ai-gateway.vercel.sh");
  fake.settings.set("sluice.models.hidden", ["open ai"]);
  fake.settings.set("sluice.extraHeaders", { Authorization: "x", "x-ok": "fine", "bad name": "x", "x-empty": "${env:NO_SUCH_VARIABLE}" });
  fake.answers = ["Open the Setting"];
  await fake.resolveModels();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(fake.seen.length, 1);
  assert.match(fake.seen[0]!, /^warning: Sluice: The base URL does not start with https:.*\(4 more in the log\)$/);
  assert.deepEqual(fake.executed, [["workbench.action.openSettings", "@id:sluice.baseUrl"]]);
  assert.deepEqual(
    fake.logged.filter((line) => line.startsWith("warn: sluice.")).map((line) => line.slice(0, 48)),
    [
      "warn: sluice.baseUrl: The base URL does not start",
      "warn: sluice.models.hidden: The pattern `open ai`",
      "warn: sluice.extraHeaders: The extra header authorization",
      "warn: sluice.extraHeaders: The extra header bad name is",
      "warn: sluice.extraHeaders: The extra header x-empty is ",
    ].map((line) => line.slice(0, 48)),
  );
  await vscode.workspace.getConfiguration("sluice").update("caching", false);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(fake.seen.length, 1, "told once");
  await vscode.workspace.getConfiguration("sluice").update("models.hidden", []);
  await new Promise((resolve) => setImmediate(resolve));
  assert.match(fake.seen[1]!, /\(3 more in the log\)$/, "and again when something changed");
  assert.match((await run("signInWithVercelCli", undefined))[0]!, /^error: Sluice: The base URL does not start/);
});

test("signing in adds the models of its address, and signing out removes them", async () => {
  const { run, sent, secrets, changes } = await start({
    intercept: (url) => {
      const { origin, pathname } = new URL(url);
      if (origin !== "https://api.vercel.com") {
        return undefined;
      }
      if (pathname.endsWith("/token")) {
        return Response.json({ token: "gateway-canary-token" });
      }
      return Response.json({ user: {}, teams: [{ id: "t", name: "Team", slug: "team" }], projects: [{ id: "p", name: "Project" }] });
    },
  });
  const home = process.env["XDG_DATA_HOME"];
  process.env["XDG_DATA_HOME"] = "/data";
  try {
    assert.match((await run("signInWithVercelCli"))[0]!, /^error: Sluice: The Vercel CLI is not installed/);
    fake.files.set("/data/com.vercel.cli/auth.json", new TextEncoder().encode("{}"));
    await run("signInWithVercelCli", "Run `vercel login` in a Terminal");
    assert.deepEqual(fake.terminal, ["vercel login"]);

    fake.files.set("/data/com.vercel.cli/auth.json", new TextEncoder().encode('{"token":"cli-canary-token"}'));
    const before = changes();
    const seen = await run("signInWithVercelCli", "Team", "Project", undefined);
    assert.match(seen.at(-1)!, /^info: Sluice: signed in for Team \/ Project\./);
    assert(changes() > before);
    const models = await fake.resolveModels();
    assert(models.length > 3);
    assert.match((await run("testConnection", undefined))[0]!, /"Team \/ Project" works/);

    for (const { url, key } of sent) {
      const owner = url.startsWith("https://api.vercel.com/") ? "Bearer cli-canary-token" : "Bearer gateway-canary-token";
      assert([owner, null].includes(key), `${url} got ${key}`);
    }
    assert(sent.some(({ key }) => key === "Bearer gateway-canary-token"));
    assert(!JSON.stringify([...secrets.kept]).includes("cli-canary-token"));

    // The settings contain another address, and the token must not be sent there.
    fake.settings.set("sluice.baseUrl", "https://elsewhere.example/v1");
    sent.length = 0;
    const [moved] = await run("testConnection", undefined);
    assert.match(
      moved!,
      /You signed in for https:\/\/ai-gateway\.vercel\.sh, but the base URL in the settings is now at https:\/\/elsewhere\.example/,
    );
    assert.deepEqual(sent, []);
    fake.settings.set("sluice.baseUrl", "https://ai-gateway.vercel.sh/v1");

    assert.match((await run("signOut"))[0]!, /signed out/);
    assert.equal(secrets.kept.size, 0);
    assert.deepEqual(
      ((await fake.resolveModels()) as { id: string }[]).map(({ id }) => id),
      ["sluice/demo"],
    );
    assert.match((await run("signOut"))[0]!, /you aren.t signed in/);
    const everything =
      fake.logged.join() +
      fake.seen.join() +
      [...fake.files]
        .filter(([path]) => path.startsWith("/storage"))
        .map(([, bytes]) => Buffer.from(bytes as Uint8Array).toString())
        .join();
    assert(!everything.includes("canary"), "no token in any log, message or file");
  } finally {
    home === undefined ? delete process.env["XDG_DATA_HOME"] : (process.env["XDG_DATA_HOME"] = home);
  }
});

test("names from a server are not links, neither in a sign-in nor in the list of models", async () => {
  const name = "[click](command:x) $(bug) https://evil.example";
  const { run } = await start({
    intercept: (url) => {
      if (url.startsWith("https://api.vercel.com/")) {
        const list = {
          user: {},
          teams: ["t", "u"].map((id) => ({ id, name: `${id} ${name}`, slug: name })),
          projects: [{ id: "p", name: `p ${name}` }],
        };
        return Response.json(url.includes("/token") ? { token: "gateway-canary-token" } : list);
      }
      const model = { id: `a/${name}`, name: `m ${name}`, description: name, type: "language", context_window: 1000, max_tokens: 100 };
      return url.endsWith("/models") ? Response.json({ data: [model] }) : undefined;
    },
  });
  const home = process.env["XDG_DATA_HOME"];
  process.env["XDG_DATA_HOME"] = "/data";
  try {
    fake.files.set("/data/com.vercel.cli/auth.json", new TextEncoder().encode('{"token":"cli-canary-token"}'));
    await run("signInWithVercelCli", linkFree(`t ${name}`), linkFree(`p ${name}`), undefined);
    const shown = [...fake.seen, ...fake.progress];
    assert.match(shown.join("\n"), /signed in for t \[click\]/);
    const [model] = (await fake.resolveModels()) as { [field: string]: unknown }[];
    for (const field of ["id", "name", "family", "version", "detail", "tooltip"]) shown.push(String(model![field]));
    await run("testConnection", undefined);
    for (const text of [...shown, ...fake.seen, ...fake.progress]) assert.doesNotMatch(text, /\]\(|\$\(|:\/\/[\w[]/, text);
  } finally {
    if (home === undefined) delete process.env["XDG_DATA_HOME"];
    else process.env["XDG_DATA_HOME"] = home;
  }
});

test("another gateway than Vercel's gets a token only if the user confirms it", async () => {
  const { run, sent } = await start();
  fake.settings.set("sluice.baseUrl", "https://elsewhere.example/v1");
  assert.match((await run("signInWithVercelCli", undefined))[0]!, /^warning: Your settings specify https:\/\/elsewhere\.example/);
  assert.deepEqual(sent, []);
});

test("the walkthrough opens", async () => {
  const { run } = await start();
  await run("openWalkthrough");
  assert.deepEqual(fake.executed.at(-1), ["workbench.action.openWalkthrough", "sluice.sluice#start", false]);
});
