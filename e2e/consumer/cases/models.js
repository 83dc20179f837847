// The list of models, and token counts.
const assert = require("node:assert/strict");
const { monitorEventLoopDelay } = require("node:perf_hooks");
const vscode = require("vscode");
const { model, user, assistant, until } = require("../ask");
const figures = require("../figures");

module.exports = [
  [
    "every language model is listed, and nothing else",
    async () => {
      let models = [];
      await until("the models are there", async () => (models = await vscode.lm.selectChatModels({ vendor: "sluice" })).length > 0);
      const upstream = await (await fetch(`${process.env.SLUICE_E2E_TAP}/v1/models`)).json();
      const wanted = upstream.data.filter((one) => one.type === "language");
      assert.deepEqual(models.map((one) => one.id).sort(), wanted.map((one) => one.id).sort());
      for (const { id, name, context_window, max_tokens } of wanted) {
        const listed = models.find((one) => one.id === id);
        assert.equal(listed.name, name);
        assert.equal(listed.maxInputTokens, context_window - max_tokens, id);
      }
    },
  ],
  [
    "the vocabulary loads without blocking the host",
    async () => {
      const demo = await model("sluice/demo");
      // Until the vocabulary is loaded, counts are estimates, which are too high for this text.
      const text = "internationalization ".repeat(50);
      const delay = monitorEventLoopDelay({ resolution: 1 });
      delay.enable();
      const estimate = await demo.countTokens(text);
      await until("counts are exact", async () => (await demo.countTokens(text)) < estimate);
      delay.disable();
      figures.note("event loop while the vocabulary loads: longest delay in ms", delay.max / 1e6);
    },
  ],
  [
    "text is counted",
    async () => {
      const demo = await model("sluice/demo");
      assert.equal(await demo.countTokens(""), 0);
      // The model's tokenizer is unknown, so the count is on the high side, but not by much.
      const within = async (text, least, most) => {
        const count = await demo.countTokens(text);
        assert.ok(count >= least && count <= most, `${count} tokens, not ${least} to ${most}: ${text.slice(0, 50)}`);
      };
      await within("hello", 1, 4);
      await within("The quick brown fox jumps over the lazy dog.", 9, 20);
      await within("The quick brown fox jumps over the lazy dog. ".repeat(100), 900, 1800);
    },
  ],
  [
    "messages are counted with all their parts",
    async () => {
      const demo = await model("sluice/demo");
      const call = new vscode.LanguageModelToolCallPart("gw-1", "read_file", { path: "a/rather/long/path/to/a/file.md" });
      const result = new vscode.LanguageModelToolResultPart("gw-1", [
        new vscode.LanguageModelTextPart("twelve words of a result ".repeat(20)),
      ]);
      const said = await demo.countTokens(user("hello"));
      const called = await demo.countTokens(assistant([call]));
      const answered = await demo.countTokens(user([result]));
      assert.ok(said >= 1 && said <= 12, `${said} for hello`);
      assert.ok(called >= 8 && called <= 60, `${called} for a call`);
      assert.ok(answered >= 90 && answered <= 160, `${answered} for a result`);
    },
  ],
  [
    "counting is quick: 3000 different texts",
    async () => {
      // Chat counts about that many texts before every request, one after the other.
      const demo = await model("sluice/demo");
      for (let at = 0; at < 3000; at++) await demo.countTokens(`property ${at} of a schema`);
    },
  ],
];
