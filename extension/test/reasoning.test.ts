// What both chat hosts of VS Code give back to a model, with the real modules and servers as strict as the real ones.

import assert from "node:assert/strict";
import { test } from "node:test";

import { BASE_URL, KEY, keyed, type Sent, start, textOf } from "./harness.js";
import { AgentHost, Cancellation, CopilotChat, find } from "./hosts.js";
import { CancellationError, fake } from "./vscode.js";

const PROVIDERS = ["openai-like", "anthropic-like", "deepseek-like", "kimi-like", "vllm-like"];
const answers = (sent: readonly Sent[]) => sent.filter(({ url }) => url.endsWith("/responses"));
const reasoning = ({ body }: Sent) => (JSON.parse(body) as { input: { type: string }[] }).input.filter(({ type }) => type === "reasoning");

test("both hosts keep the reasoning through ten rounds of tools and a change of models", async () => {
  for (const host of [CopilotChat, AgentHost]) {
    const { provider, sent } = await start(keyed);
    const models = await provider.provideLanguageModelChatInformation({ silent: true, ...keyed }, {});
    for (const name of PROVIDERS) {
      const before = sent.length;
      const [chat, model] = [new host(), find(models, `sluice/${name}`)];
      await chat.ask(provider, model, "Call open_gate 10 times, and think twice");
      await chat.ask(provider, find(models, "sluice/echo"), "Say it again");
      const text = await chat.ask(provider, model, "Call open_gate 2 times");
      assert.match(text, /Here is what I found/, `${host.name} ${name}`);
      // What vLLM doesn't know is left out after the first request.
      const requests = answers(sent.slice(before)).filter(({ status }, at) => at > 2 || status === 200);
      assert.deepEqual([...new Set(requests.map(({ status }) => status))], [200], `${host.name} ${name}`);
      assert(reasoning(requests.at(-1)!).length >= 12, `${host.name} ${name}`);
      assert.deepEqual(reasoning(requests.find(({ body }) => body.includes("sluice/echo"))!), [], "another model got it");
    }
  }
});

test("the agent host gets one item of reasoning, the usage, and no response to continue from", async () => {
  const { provider } = await start(keyed);
  const models = await provider.provideLanguageModelChatInformation({ silent: true, ...keyed }, {});
  const chat = new AgentHost();
  await chat.ask(provider, find(models, "sluice/openai-like"), "Call open_gate 1 times");
  assert.equal(chat.shape, "message reasoning message function_call function_call_output reasoning message");
  assert((chat.usage?.prompt_tokens ?? 0) > 0 && (chat.usage?.completion_tokens ?? 0) > 0);
  assert((chat.usage?.completion_tokens_details?.reasoning_tokens ?? 0) > 0);
  assert.equal(chat.responseId, undefined, "the agent host would send only what is new");
});

test("the agent host gets the limits and efforts of a model, and what it asks for is sent", async () => {
  const { provider, sent } = await start(keyed);
  const models = await provider.provideLanguageModelChatInformation({ silent: true, ...keyed }, {});
  const model = find(models, "sluice/openai-like");
  const { maxContextWindowTokens, maxPromptTokens, maxOutputTokens, ...others } = AgentHost.describe(model);
  assert.deepEqual([maxContextWindowTokens, maxPromptTokens, maxOutputTokens], [128_000, 111_616, 16_384]);
  assert.deepEqual(others, {
    id: "sluice/openai-like",
    name: "OpenAI-like",
    supportsVision: false,
    supportedReasoningEfforts: ["none", "low", "medium", "high", "xhigh"],
    defaultReasoningEffort: undefined,
  });
  const modelOptions = { max_tokens: 1234, temperature: 0.5, top_p: 0.9 };
  await new AgentHost().ask(provider, model, "Call open_gate 0 times", { modelOptions });
  const { max_output_tokens, temperature, top_p, max_tokens } = JSON.parse(answers(sent).at(-1)!.body) as { [name: string]: unknown };
  assert.deepEqual([max_output_tokens, temperature, top_p, max_tokens], [1234, 0.5, 0.9, undefined]);
});

/** A response that begins to answer and then waits until the connection is closed. */
function waiting(onWait: () => void, onClose: () => void): (url: string, init: RequestInit) => Response | undefined {
  const begin = [
    { type: "response.created", response: { id: "r", status: "in_progress", output: [] } },
    { type: "response.output_item.added", output_index: 0, item: { type: "reasoning", id: "rs", summary: [] } },
    { type: "response.reasoning_summary_text.delta", item_id: "rs", output_index: 0, summary_index: 0, delta: "Half a thought" },
    { type: "response.output_item.added", output_index: 1, item: { type: "message", id: "m", role: "assistant", content: [] } },
    { type: "response.output_text.delta", item_id: "m", output_index: 1, content_index: 0, delta: "Half an answer" },
  ];
  const bytes = new TextEncoder().encode(begin.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
  return (url, init) => {
    if (!url.endsWith("/responses") || !textOf(init).includes("Wait here")) {
      return undefined;
    }
    const body = new ReadableStream({
      start: (controller) => {
        controller.enqueue(bytes);
        init.signal?.addEventListener("abort", () => {
          onClose();
          controller.error(new Error("aborted"));
        });
      },
      // The bytes have been read if more are asked for.
      pull: onWait,
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
}

test("the agent host can cancel: nothing is reported, the connection is closed, and it goes on without the answer", async () => {
  for (const name of PROVIDERS) {
    const token = new Cancellation();
    let closed = 0;
    let isOver = false;
    // What it asks after the cancellation goes to the embedded gateway.
    const wait = waiting(
      () => token.cancel(),
      () => closed++,
    );
    const intercept = (url: string, init: RequestInit): Response | undefined => (isOver ? undefined : wait(url, init));
    const { provider, sent } = await start({ ...keyed, intercept });
    const models = await provider.provideLanguageModelChatInformation({ silent: true, ...keyed }, {});
    const [chat, model] = [new AgentHost(), find(models, `sluice/${name}`)];
    await chat.ask(provider, model, "Call open_gate 2 times");
    const before = reasoning(answers(sent).at(-1)!).length;
    await assert.rejects(chat.ask(provider, model, "Wait here", {}, token), CancellationError);
    assert.equal(closed, 1, `${name}: the connection stayed open`);
    isOver = true;
    const text = await chat.ask(provider, model, "Call open_gate 1 times");
    assert.match(text, /Here is what I found/, name);
    const last = answers(sent).at(-1)!;
    assert.equal(last.status, 200, name);
    assert.doesNotMatch(last.body, /Half a/, `${name}: it never got this answer`);
    assert.equal(reasoning(last).length, before + 2, name);
  }
});

test("a request that the agent host cancels before it is sent is not sent", async () => {
  const { provider, sent } = await start(keyed);
  const models = await provider.provideLanguageModelChatInformation({ silent: true, ...keyed }, {});
  const token = new Cancellation();
  token.cancel();
  await assert.rejects(new AgentHost().ask(provider, find(models, "sluice/echo"), "Hello", {}, token), CancellationError);
  assert.deepEqual(answers(sent), []);
});

test("the effort that a host chose is sent, and nothing if it chose none", async () => {
  const { provider, sent } = await start(keyed);
  const models = await provider.provideLanguageModelChatInformation({ silent: true, ...keyed }, {});
  const model = find(models, "sluice/openai-like");
  for (const effort of [undefined, "low", "high", "none"]) {
    const options = effort === undefined ? {} : { modelConfiguration: { reasoningEffort: effort } };
    await new AgentHost().ask(provider, model, "Call open_gate 0 times", options);
  }
  assert.deepEqual(
    answers(sent).map(({ body }) => (JSON.parse(body) as { reasoning?: object }).reasoning),
    [{ summary: "auto" }, { effort: "low", summary: "auto" }, { effort: "high", summary: "auto" }, { effort: "none" }],
  );
});

test("the effort that is chosen in the picker is sent for models of every key", async () => {
  // VS Code makes a group for the choices, which has no key and no address.
  const { provider, sent } = await start({ environment: { SLUICE_API_KEY: KEY }, configuration: {} });
  fake.settings.set("sluice.baseUrl", BASE_URL);
  const choose = (settings?: object) =>
    fake.files.set(
      "/storage/../../chatLanguageModels.json",
      new TextEncoder().encode(JSON.stringify([{ vendor: "other" }, { name: "Sluice", vendor: "sluice", settings }])),
    );
  const model = async () => find((await fake.resolveModels()) as Parameters<typeof find>[0], "sluice/openai-like");
  for (const reasoningEffort of ["low", "high", "none"]) {
    choose({ "sluice/openai-like": { reasoningEffort } });
    await new CopilotChat().ask(provider, await model(), "Call open_gate 0 times");
  }
  // The agent host says what it wants.
  await new AgentHost().ask(provider, await model(), "Call open_gate 0 times", { modelConfiguration: { reasoningEffort: "high" } });
  choose();
  // VS Code passes on what the picker shows if nothing was chosen.
  await new CopilotChat().ask(provider, await model(), "Call open_gate 0 times", { modelConfiguration: { reasoningEffort: "default" } });
  fake.files.set("/storage/../../chatLanguageModels.json", new TextEncoder().encode("[damaged"));
  await new CopilotChat().ask(provider, await model(), "Call open_gate 0 times");
  assert.deepEqual(
    answers(sent).map(({ body }) => (JSON.parse(body) as { reasoning?: { effort?: string } }).reasoning?.effort),
    ["low", "high", "none", "high", undefined, undefined],
  );
  assert.deepEqual(new Set(sent.map(({ key }) => key)), new Set([`Bearer ${KEY}`]));
  assert.deepEqual(
    fake.seen.filter((text) => text.startsWith("warning")),
    [],
  );
});

test("the same models in several groups are told apart, and each goes to its own server with its own key", async () => {
  const other = { apiKey: "another-key", baseUrl: "https://other.example/v1" };
  const third = { apiKey: "third-key", baseUrl: "https://other.example/v1" };
  const { provider, sent } = await start({ configuration: [keyed.configuration, other, third] });
  const models = (await fake.resolveModels()) as Parameters<typeof find>[0];
  for (const part of ["id", "name"] as const) {
    const own = models.map((model) => model[part]).filter((text) => /echo/i.test(text));
    assert.equal(new Set(own).size, 3, own.join());
  }
  const ids = ["sluice/echo", "sluice/echo#other.example", "sluice/echo#other.example-2"];
  for (const id of ids) {
    await new AgentHost().ask(provider, find(models, id), "Hello");
  }
  assert.deepEqual(
    answers(sent).map(({ url, key, body }) => [url, key, (JSON.parse(body) as { model: string }).model]),
    [
      [`${BASE_URL}/responses`, `Bearer ${KEY}`, "sluice/echo"],
      ["https://other.example/v1/responses", "Bearer another-key", "sluice/echo"],
      ["https://other.example/v1/responses", "Bearer third-key", "sluice/echo"],
    ],
  );
});

test("reasoning is still there after a restart, until the user deletes it", async () => {
  const { provider, sent, restart, run } = await start(keyed);
  const list = async (from: typeof provider) => from.provideLanguageModelChatInformation({ silent: true, ...keyed }, {});
  const chat = new CopilotChat();
  await chat.ask(provider, find(await list(provider), "sluice/deepseek-like"), "Call open_gate 2 times");
  const again = await restart();
  await chat.ask(again, find(await list(again), "sluice/deepseek-like"), "Call open_gate 1 times");
  assert.deepEqual(new Set(answers(sent).map(({ status }) => status)), new Set([200]));
  assert.equal(reasoning(answers(sent).at(-1)!).length, 4);

  const files = () => [...fake.files].filter(([name]) => name.startsWith("/storage/vault/"));
  const text = () =>
    files()
      .map(([, bytes]) => new TextDecoder().decode(bytes as Uint8Array))
      .join("");
  await restart();
  assert.match(text(), /Call 1 of 2/, "DeepSeek's reasoning is plain text");
  assert.deepEqual(await run("deleteReasoning"), ["info: Sluice: the reasoning of earlier answers is deleted."]);
  assert.equal(files().length, 1);
  assert.doesNotMatch(text(), /Call|sluice|gateway/);
});
