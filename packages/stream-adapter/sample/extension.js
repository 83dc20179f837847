const vscode = require("vscode");
const { OpenResponsesStreamAdapter } = require("@sluice/stream-adapter");

const url = `${process.env.SAMPLE_BASE_URL ?? "http://127.0.0.1:8787/v1"}/responses`; // `sluice serve` listens there

const limits = { maxInputTokens: 100_000, maxOutputTokens: 8_000, capabilities: { toolCalling: true } };

const provider = {
  provideLanguageModelChatInformation: () => [{ id: "sluice/demo", name: "Sample", family: "sluice", version: "1", ...limits }],
  async provideLanguageModelChatResponse(model, messages, options, progress, token) {
    const input = messages.map(({ role, content }) => ({
      type: "message",
      role: role === vscode.LanguageModelChatMessageRole.Assistant ? "assistant" : "user",
      content: content.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : "")).join(""),
    }));
    const tools = options.tools?.map(({ name, description, inputSchema: parameters = null }) => {
      return { type: "function", name, description, parameters, strict: false };
    });
    const response = fetch(url, {
      method: "POST",
      headers: { authorization: `Bearer ${process.env.SAMPLE_KEY ?? "demo"}`, "content-type": "application/json" },
      body: JSON.stringify({ model: model.id, input, tools, stream: true }),
    });
    const usage = await new OpenResponsesStreamAdapter({ vscode, reportUsage: true }).processStream(response, progress, token);
    console.log(`${usage.inputTokens} tokens in, ${usage.outputTokens} out`);
  },
  provideTokenCount: async (_model, text) => Math.ceil((typeof text === "string" ? text : JSON.stringify(text.content)).length / 4),
};

exports.activate = (context) => context.subscriptions.push(vscode.lm.registerLanguageModelChatProvider("sluice-sample", provider));
