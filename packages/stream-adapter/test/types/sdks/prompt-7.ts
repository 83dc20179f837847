// This is compiled but never run: version 7 of the AI SDK accepts what the package makes of a chat.

import { toModelMessages, toSdkPrompt, toSdkTools } from "@sluice/stream-adapter/messages";
import { jsonSchema, type LanguageModel, type ModelMessage, streamText } from "ai";
import type * as vscode from "vscode";

export async function start(
  model: LanguageModel,
  messages: readonly vscode.LanguageModelChatRequestMessage[],
  options: vscode.ProvideLanguageModelChatResponseOptions,
): Promise<ModelMessage[]> {
  streamText({ model, ...(await toSdkPrompt(messages)), tools: toSdkTools(options.tools, jsonSchema) });
  return toModelMessages(messages);
}
