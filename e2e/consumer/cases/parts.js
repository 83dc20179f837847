// The answer, part by part.
const assert = require("node:assert/strict");
const vscode = require("vscode");
const { parts, plain, said, seen, user, assistant, until } = require("../ask");

/** A red PNG of 3 × 2 pixels. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGP4z8AAQQxwFgBB0gX7h/C5SAAAAABJRU5ErkJggg==";
const ADD = {
  name: "add",
  description: "Adds",
  inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
};
const SUBTRACT = { ...ADD, name: "subtract", description: "Subtracts" };
const INPUT = { a: 1, b: 2, name: "ж", nested: { list: [1, 2.5, null, true], empty: {} } };

module.exports = [
  [
    "text arrives unchanged",
    async () => {
      for (const text of ["Hello", "Grüße, 水位 👩‍🚀", "  leading and trailing  ", "a\n\n```js\nb\n```\n", '<tag> & "quotes" \\ back']) {
        assert.deepEqual(said(await parts("sluice/echo", text)), [{ text }]);
      }
    },
  ],
  [
    "usage is what the server reported",
    async () => {
      const { usage } = plain(await parts("sluice/echo", "count this, please")).find((part) => part.usage);
      const server = (await seen("sluice/echo")).at(-1).usage;
      assert.equal(usage.prompt_tokens, server.input_tokens);
      assert.equal(usage.completion_tokens, server.output_tokens);
      assert.equal(usage.total_tokens, server.total_tokens);
    },
  ],
  [
    "a tool is called once, with unchanged input",
    async () => {
      const answer = said(await parts("sluice/tools", `please add ${JSON.stringify(INPUT)}`, { tools: [ADD, SUBTRACT] }));
      assert.equal(answer.length, 1, JSON.stringify(answer));
      assert.equal(answer[0].call, "add");
      assert.deepEqual(answer[0].input, INPUT);
      assert.match(answer[0].id, /^gw-[\w-]{1,61}$/);
    },
  ],
  [
    "a tool without input gets an empty object",
    async () => {
      const tool = { name: "now", description: "The time" };
      const answer = said(await parts("sluice/tools", "now", { tools: [tool] }));
      assert.deepEqual(
        answer.map(({ call, input }) => ({ call, input })),
        [{ call: "now", input: {} }],
      );
    },
  ],
  [
    "two calls at once have different ids",
    async () => {
      const answer = said(await parts("sluice/parallel-tools", 'add {"a":1} and subtract {"b":2}', { tools: [ADD, SUBTRACT] }));
      assert.deepEqual(
        answer.map(({ call, input }) => ({ call, input })),
        [
          { call: "add", input: { a: 1 } },
          { call: "subtract", input: { b: 2 } },
        ],
      );
      assert.notEqual(answer[0].id, answer[1].id);
    },
  ],
  [
    "the result of a tool reaches the model",
    async () => {
      const question = user('please add {"a":40,"b":2}');
      const [call] = said(await parts("sluice/tools", [question], { tools: [ADD] }));
      const result = new vscode.LanguageModelToolResultPart(call.id, [new vscode.LanguageModelTextPart("42, exactly")]);
      const conversation = [question, assistant([new vscode.LanguageModelToolCallPart(call.id, call.call, call.input)]), user([result])];
      assert.deepEqual(said(await parts("sluice/tools", conversation, { tools: [ADD] })), [{ text: "add said: 42, exactly" }]);
      const items = (await seen("sluice/tools")).at(-1).body.input;
      const ids = items.filter((item) => item.call_id).map((item) => item.call_id);
      assert.equal(ids.length, 2);
      assert.equal(ids[0], ids[1]);
    },
  ],
  [
    "a tool call can be required",
    async () => {
      const options = { tools: [ADD], toolMode: vscode.LanguageModelChatToolMode.Required };
      const answer = said(await parts("sluice/demo+pace=0", "Hello", options));
      assert.deepEqual(
        answer.filter(({ thinking }) => thinking === undefined).map(({ call }) => call),
        ["add"],
      );
    },
  ],
  [
    "a picture reaches the model",
    async () => {
      const picture = vscode.LanguageModelDataPart.image(new Uint8Array(Buffer.from(PNG, "base64")), "image/png");
      const answer = said(await parts("sluice/demo+pace=0", [user([new vscode.LanguageModelTextPart("What is this?"), picture])]));
      assert.match(answer.map((part) => part.text ?? "").join(""), /I see a png picture of 3 × 2 pixels/);
    },
  ],
  [
    "a picture with the wrong type reaches the model too",
    async () => {
      const picture = vscode.LanguageModelDataPart.image(new Uint8Array(Buffer.from(PNG, "base64")), "image/jpeg");
      await parts("sluice/demo+pace=0", [user([new vscode.LanguageModelTextPart("And this?"), picture])]);
      assert.match(JSON.stringify((await seen("sluice/demo+pace=0")).at(-1).body.input), /data:image\/png;base64,/);
    },
  ],
  [
    "thinking is reported as thinking, before the answer",
    async () => {
      const [thinking, text, ...rest] = said(await parts("sluice/reasoning", "two plus two"));
      assert.match(thinking.thinking, /The user says: two plus two/);
      assert.deepEqual(text, { text: "I thought about it: two plus two" });
      assert.deepEqual(rest, []);
    },
  ],
  [
    "encrypted reasoning is sent back unchanged",
    async () => {
      const first = await parts("sluice/encrypted-reasoning", "keep a secret");
      const thoughts = first.filter(
        (part) => part instanceof vscode.LanguageModelThinkingPart || part instanceof vscode.LanguageModelTextPart,
      );
      const conversation = [user("keep a secret"), assistant(thoughts), user("and another")];
      assert.match(
        JSON.stringify(said(await parts("sluice/encrypted-reasoning", conversation))),
        /I kept my thoughts to myself: and another/,
      );
      const items = (await seen("sluice/encrypted-reasoning")).at(-1).body.input;
      assert.ok(
        items.some((item) => item.type === "reasoning" && item.encrypted_content),
        JSON.stringify(items.map((item) => item.type ?? item.role)),
      );
    },
  ],
  [
    "a refusal is text",
    async () => {
      assert.deepEqual(said(await parts("sluice/refusal", "please")), [{ text: "I can't help with that." }]);
    },
  ],
  [
    "sources are linked after the text",
    async () => {
      const [{ text }, ...rest] = said(await parts("sluice/citations", "sources?"));
      assert.ok(text.startsWith("Open Responses is a specification. The gateway speaks it."), text);
      assert.match(text, /\(https:\/\/www\.openresponses\.org\/\)/);
      assert.match(text, /\(https:\/\/vercel\.com\/docs\/ai-gateway\)/);
      assert.deepEqual(rest, []);
    },
  ],
  [
    "a generated picture is a data part",
    async () => {
      const answer = said(await parts("sluice/image", "draw"));
      assert.equal(answer.find((part) => part.data)?.data, "image/png");
      assert.ok(
        answer.some((part) => part.text?.includes("Here is your picture.")),
        JSON.stringify(answer),
      );
    },
  ],
  [
    "the request asks for a stream from that model, and sets no temperature",
    async () => {
      await parts("sluice/echo", [user("the question")]);
      const { body } = (await seen("sluice/echo")).at(-1);
      assert.equal(body.stream, true);
      assert.equal(body.model, "sluice/echo");
      assert.equal(JSON.stringify(body).includes("temperature"), false);
    },
  ],
  [
    "a cancelled answer stops, and its connection is closed",
    async () => {
      const source = new vscode.CancellationTokenSource();
      let afterwards = 0;
      const stop = () => (source.token.isCancellationRequested ? (afterwards += 1) : source.cancel());
      await parts("sluice/demo", "Tell me a story", {}, source.token, stop).catch(() => undefined);
      await until("the connection is closed", async () => (await seen("sluice/demo")).at(-1).ended);
      assert.equal((await seen("sluice/demo")).at(-1).hungUp, true);
      assert.ok(afterwards <= 2, `${afterwards} parts came after it was cancelled`);
    },
  ],
];
