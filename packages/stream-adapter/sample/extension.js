const vscode = require("vscode");
const { OpenResponsesStreamAdapter } = require("@sluice/stream-adapter");
const { toResponsesInput } = require("@sluice/stream-adapter/messages");
const { countTokens } = require("@sluice/stream-adapter/tokens");

const baseUrl = process.env.SAMPLE_BASE_URL ?? "http://127.0.0.1:8787/v1"; // `sluice serve` listens there
const limits = { maxInputTokens: 100_000, maxOutputTokens: 8_000, capabilities: { toolCalling: true, imageInput: true } };

const provider = {
  provideLanguageModelChatInformation: () => [{ id: "sluice/demo", name: "Sample", family: "sluice", version: "1", ...limits }],
  async provideLanguageModelChatResponse({ id: model }, messages, { tools }, progress, token) {
    const body = { model, stream: true, ...(await toResponsesInput(messages, { model, baseUrl, tools })) };
    const send = (signal) =>
      fetch(`${baseUrl}/responses`, {
        method: "POST",
        headers: { authorization: `Bearer ${process.env.SAMPLE_KEY ?? "demo"}`, "content-type": "application/json" },
        body: JSON.stringify(body),
        signal,
      });
    const adapter = new OpenResponsesStreamAdapter({ vscode, reportUsage: true });
    const usage = await adapter.processStream(send, progress, token);
    console.log(`${usage.inputTokens} tokens in, ${usage.outputTokens} out`);
  },
  provideTokenCount: ({ id }, text) => countTokens(id, text),
};

exports.activate = (context) => context.subscriptions.push(vscode.lm.registerLanguageModelChatProvider("sluice-sample", provider));
