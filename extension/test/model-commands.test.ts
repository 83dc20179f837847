// Models in VS Code's picker and settings: what is shown, what the user sets for single models, and VS Code's own jobs.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as vscode from "vscode";

import { keyed, start, textOf } from "./harness.js";
import { fake } from "./vscode.js";

const LIST = [
  {
    id: "anthropic/claude-sonnet-4.5",
    name: "Claude Sonnet 4.5",
    description: "Writes [code](https://evil.example) well. And more.",
    tags: ["tool-use", "vision", "reasoning"],
    context_window: 1_000_000,
    max_tokens: 64_000,
    pricing: { input: "0.000003", output: "0.000015", input_cache_read: "0.0000003" },
  },
  { id: "openai/gpt-5-mini", name: "GPT-5 mini", tags: ["tool-use"], pricing: { input: "0.00000025", output: "0.000002" } },
  { id: "acme/old", name: "Old", tags: ["tool-use"], deprecated_at: 1_000_000_000 },
];
const withList = {
  ...keyed,
  intercept: (url: string) => (url.endsWith("/models") ? Response.json({ data: LIST }) : undefined),
};

type Shown = { readonly id: string; readonly [field: string]: unknown };

test("the picker has the facts where VS Code shows them", async () => {
  await start(withList);
  const models = (await fake.resolveModels()) as Shown[];
  const of = (id: string) => models.find((model) => model.id === id)!;
  const sonnet = of("anthropic/claude-sonnet-4.5");
  assert.equal(sonnet["pricing"], "$3 / $15", "it fits the column");
  assert.deepEqual([sonnet["priceCategory"], sonnet["category"]], ["medium", "versatile"]);
  assert.deepEqual(
    Object.values(sonnet["infoText"] as object).map((line: string) => line.replaceAll("\u2060", "")),
    [
      "Writes \\[code\\](https://evil.example) well.",
      "tools, images, thinking, prompt cache",
      "1M tokens: 936k in, 64k out",
      "\\$3 / \\$15 per M tokens, cached \\$0.30",
    ],
  );
  assert.doesNotMatch(JSON.stringify(sonnet["infoText"]), /\]\(|:\/\/\w/, "a server's text is no link");
  const { contextSize } = (
    sonnet["configurationSchema"] as { properties: { contextSize: { enum: number[]; default: number; group: string } } }
  ).properties;
  assert.deepEqual(
    [contextSize.enum, contextSize.default, contextSize.group],
    [[128_000, 200_000, 400_000, 1_000_000], 1_000_000, "tokens"],
  );
  assert.deepEqual(
    models.filter(({ promo }) => promo !== undefined).map(({ id }) => id),
    ["anthropic/claude-sonnet-4.5"],
  );
  assert.deepEqual(of("acme/old")["warningText"], { model_pending_deprecation: "The provider switched this model off on 2001-09-09." });
  assert.equal((of("acme/old")["statusIcon"] as vscode.ThemeIcon).id, "warning");
});

test("what is set for a model reaches its requests and nothing else", async () => {
  const bodies: { [field: string]: unknown }[] = [];
  // Other servers get no routing.
  const vercel = { ...keyed.configuration, baseUrl: "https://ai-gateway.vercel.sh/v1" };
  const { chat } = await start({
    configuration: vercel,
    intercept: (url, init) => {
      if (url.endsWith("/responses")) {
        bodies.push(JSON.parse(textOf(init)) as { [field: string]: unknown });
      }
      return withList.intercept(url);
    },
  });
  fake.settings.set("sluice.models.overrides", {
    "anthropic/*": { maxOutputTokens: 1234, effort: "high", imageInput: false, body: { temperature: 0.5 }, routing: { only: ["bedrock"] } },
    "acme/old": { hidden: true },
  });
  await chat(vercel, "hello");
  const [body] = bodies;
  assert.deepEqual(
    [body!["model"], body!["max_output_tokens"], body!["temperature"], (body!["reasoning"] as { effort: string }).effort],
    ["anthropic/claude-sonnet-4.5", 1234, 0.5, "high"],
  );
  assert.match(JSON.stringify(body!["providerOptions"]), /"only":\["bedrock"\]/);
  const models = (await fake.resolveModels()) as Shown[];
  assert.deepEqual(
    models.map(({ id }) => id),
    ["anthropic/claude-sonnet-4.5", "openai/gpt-5-mini", "sluice/demo"].slice(0, models.length),
  );
  assert.deepEqual((models[0]!["capabilities"] as { imageInput: boolean }).imageInput, false);
});

test("a model is changed by form, and changed back", async () => {
  const { run } = await start(withList);
  await run(
    "editModel",
    "GPT-5 mini",
    "Maximum output tokens",
    "nonsense",
    "4000",
    "Thinking effort",
    "high",
    "Hide the model",
    "Yes",
    undefined,
  );
  assert.deepEqual(fake.settings.get("sluice.models.overrides"), {
    "openai/gpt-5-mini": { maxOutputTokens: 4000, effort: "high", hidden: true },
  });
  await run("editModel", "Claude Sonnet 4.5", "Extra fields of the request", "[]", '{"seed": 5}', undefined);
  assert.deepEqual((fake.settings.get("sluice.models.overrides") as { [id: string]: unknown })["anthropic/claude-sonnet-4.5"], {
    body: { seed: 5 },
  });
  await run("editModel", "Claude Sonnet 4.5", "Extra fields of the request", "", undefined);
  assert.deepEqual(Object.keys(fake.settings.get("sluice.models.overrides") as object), ["openai/gpt-5-mini"]);
});

test("overrides that can't work are reported", async () => {
  await start(withList);
  fake.settings.set("sluice.models.overrides", { "acme/*": { maxTokens: 5 } });
  fake.answers = [undefined];
  await fake.resolveModels();
  await new Promise((resolve) => setImmediate(resolve));
  assert.match(fake.seen[0]!, /^warning: Sluice: `acme\/\*: maxTokens` in overrides is not a field; there are hidden, contextWindow, /);
});

test("ids of models are completed in the settings", async () => {
  await start(withList);
  await fake.resolveModels();
  const schema = JSON.parse(await fake.documents.get("sluice-schema")!.provideTextDocumentContent({})) as {
    properties: { "sluice.models.overrides": { properties: object } };
  };
  assert.deepEqual(Object.keys(schema.properties["sluice.models.overrides"].properties).sort(), [
    "acme/old",
    "anthropic/claude-sonnet-4.5",
    "openai/gpt-5-mini",
  ]);
});

test("one command sets the models for VS Code's own jobs, and resets them", async () => {
  const { run } = await start(withList);
  const values = () =>
    Object.fromEntries([...fake.settings].filter(([name]) => name.startsWith("chat.") || name.startsWith("inlineChat.")));
  const seen = await run("setUpModels", "$(check-all) Use Sluice for all of them", undefined);
  assert.equal(seen.at(-1), "info: Sluice: VS Code now uses Claude Sonnet 4.5 ($3 / $15), and GPT-5 mini ($0.25 / $2) for small jobs.");
  assert.deepEqual(values(), {
    "chat.defaultModel": "anthropic/claude-sonnet-4.5",
    "inlineChat.defaultModel": "Claude Sonnet 4.5 (sluice)",
    "chat.planAgent.defaultModel": "Claude Sonnet 4.5 (sluice)",
    "chat.exploreAgent.defaultModel": "GPT-5 mini (sluice)",
    "chat.utilityModel": "sluice/openai/gpt-5-mini",
    "chat.utilitySmallModel": "sluice/openai/gpt-5-mini",
  });
  await run("setUpModels", "$(pass-filled) Inline chat", "GPT-5 mini", undefined);
  assert.equal(values()["inlineChat.defaultModel"], "GPT-5 mini (sluice)");
  fake.settings.set("chat.utilityModel", "other/model");
  await run("setUpModels", "$(discard) Leave all of them to VS Code");
  assert.deepEqual(values(), { "chat.utilityModel": "other/model" }, "what is not ours stays");
});

test("waiting for a busy server is visible", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout", "Date"], now: 1 });
  const { StatusBar } = await import("../src/notify.js");
  const status = new StatusBar();
  status.retrying("Too many requests.", 3_000);
  context.mock.timers.tick(1_000);
  context.mock.timers.tick(1_000);
  assert.deepEqual(
    fake.statusBar.slice(-3).map((text) => text.replace(/^\S+ /, "")),
    [3, 2, 1].map((seconds) => `Sluice: trying again in ${seconds} s`),
  );
  status.dispose();
});

test("an answer that reached its limit has a note that the model never sees", async () => {
  const bodies: string[] = [];
  const { provider } = await start({
    ...keyed,
    intercept: (url, init) => {
      if (url.endsWith("/responses")) {
        bodies.push(textOf(init));
      }
      return undefined;
    },
  });
  const models = (await provider.provideLanguageModelChatInformation({ silent: true, ...keyed }, {})) as { id: string }[];
  const model = models.find(({ id }) => id === "sluice/incomplete")!;
  const token = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose: () => undefined }) };
  const ask = async (messages: object[], options: object): Promise<string> => {
    const parts: unknown[] = [];
    await provider.provideLanguageModelChatResponse(model, messages, options, { report: (part: unknown) => parts.push(part) }, token);
    return parts.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : "")).join("");
  };
  const user = { role: 1, content: [new vscode.LanguageModelTextPart("hello")], name: undefined };
  const chat = { toolMode: 1, requestInitiator: "GitHub.copilot-chat" };
  const answer = await ask([user], chat);
  assert.match(answer, /\n\n\u2063\*The answer reached the model's output limit/);
  await ask([user, { role: 2, content: [new vscode.LanguageModelTextPart(answer)], name: undefined }, user], chat);
  assert.doesNotMatch(bodies.at(-1)!, /output limit/);
  await assert.rejects(ask([user], { toolMode: 1, requestInitiator: "acme.other" }), /output limit/, "programs get an error");
});
