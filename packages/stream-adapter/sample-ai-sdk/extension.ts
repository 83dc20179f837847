import { createOpenResponses } from "@ai-sdk/open-responses";
import { VSCodeStreamAdapter } from "@sluice/stream-adapter/ai-sdk";
import { toSdkPrompt, toSdkTools } from "@sluice/stream-adapter/messages";
import { jsonSchema, streamText } from "ai";
import * as vscode from "vscode";

const url = `${process.env.SAMPLE_BASE_URL ?? "http://127.0.0.1:8787/v1"}/responses`; // `sluice serve` listens there
const models = createOpenResponses({ name: "sample", url, apiKey: process.env.SAMPLE_KEY ?? "demo" });
const limits = { maxInputTokens: 100_000, maxOutputTokens: 8_000, capabilities: { toolCalling: true, imageInput: true } };

const provider: vscode.LanguageModelChatProvider = {
  provideLanguageModelChatInformation: () => [{ id: "sluice/demo", name: "AI SDK demo", family: "sluice", version: "1", ...limits }],
  async provideLanguageModelChatResponse({ id }, messages, options, progress, token) {
    const chat = { model: models(id), ...(await toSdkPrompt(messages)), tools: toSdkTools(options.tools, jsonSchema) };
    const adapter = new VSCodeStreamAdapter({ vscode, reportUsage: true });
    await adapter.processStream((abortSignal) => streamText({ ...chat, abortSignal }).fullStream, progress, token);
  },
  async provideTokenCount(_model, text) {
    return Math.ceil((typeof text === "string" ? text : JSON.stringify(text.content)).length / 4);
  },
};

export function activate(context: vscode.ExtensionContext): void {
  context.subscriptions.push(vscode.lm.registerLanguageModelChatProvider("sluice-sdk-sample", provider));
}
