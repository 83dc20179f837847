// Converts VS Code's messages, tools and options to the core's types. Only the format changes here; the core decides
// what is sent.

import * as vscode from "vscode";

import { toBase64 } from "../../packages/loader/src/base64.js";
import type { ChatMessage, ChatOptions, ChatPart, ChatRequest, ListedModel, ThinkingReplay } from "../../packages/loader/src/core.js";

/** The metadata key under which a thinking part stores what the model needs back. */
export const REPLAY = "sluice";

export function toChatRequest(
  { id, request }: ListedModel,
  messages: readonly vscode.LanguageModelChatRequestMessage[],
  { tools, toolMode, modelConfiguration, modelOptions }: vscode.ProvideLanguageModelChatResponseOptions,
  settings: ChatOptions,
): ChatRequest {
  const chosen = modelConfiguration?.["reasoningEffort"];
  return {
    model: id,
    messages: messages.map(toMessage),
    tools: (tools ?? []).map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    toolMode: toolMode === vscode.LanguageModelChatToolMode.Required ? "required" : "auto",
    options: {
      ...settings,
      ...request,
      ...(typeof chosen === "string" && { chosenEffort: chosen }),
      newConversationId: crypto.randomUUID(),
      extraBody: { ...request.extraBody, ...modelOptions },
    },
  };
}

/** By VS Code's number. The last one is a proposal in the types, and a fact at run time. */
const ROLES = [undefined, "user", "assistant", "system"] as const;

export function toMessage({ role, content }: vscode.LanguageModelChatRequestMessage): ChatMessage {
  return { role: ROLES[role as number] ?? "user", content: toParts(content) };
}

function toParts(content: readonly unknown[] | string): ChatPart[] {
  if (typeof content === "string") {
    return [{ type: "text", value: content }];
  }
  return content.flatMap((part) => toPart(part) ?? []);
}

function toPart(part: unknown): ChatPart | undefined {
  if (part instanceof vscode.LanguageModelTextPart) {
    return { type: "text", value: part.value };
  }
  if (part instanceof vscode.LanguageModelToolCallPart) {
    return { type: "toolCall", callId: part.callId, name: part.name, inputJson: JSON.stringify(part.input ?? {}) };
  }
  if (part instanceof vscode.LanguageModelToolResultPart) {
    const content = toParts(part.content);
    return { type: "toolResult", callId: part.callId, content, ...(part.isError ? { isError: true } : {}) };
  }
  if (part instanceof vscode.LanguageModelDataPart) {
    return { type: "data", mimeType: part.mimeType, base64: toBase64(part.data) };
  }
  if (vscode.LanguageModelThinkingPart !== undefined && part instanceof vscode.LanguageModelThinkingPart) {
    const replay = (part.metadata?.[REPLAY] ?? part.metadata?.["encrypted_content"]) as ThinkingReplay | string | undefined;
    return { type: "thinking", ...(replay === undefined ? {} : { replay }) };
  }
  if (part instanceof vscode.LanguageModelPromptTsxPart) {
    return { type: "text", value: textOfTsx(part.value) };
  }
  // Parts that cross between processes may arrive as plain objects.
  if (typeof part === "object" && part !== null && typeof (part as { value?: unknown }).value === "string") {
    return { type: "text", value: (part as { value: string }).value };
  }
  return typeof part === "string" ? { type: "text", value: part } : undefined;
}

/** A rendered prompt is a tree. Its text is in the `text` fields of the leaves, in order. */
function textOfTsx(node: unknown): string {
  if (Array.isArray(node)) {
    return node.map(textOfTsx).join("");
  }
  if (typeof node !== "object" || node === null) {
    return "";
  }
  const { text, node: root, children } = node as { text?: unknown; node?: unknown; children?: unknown };
  return (typeof text === "string" ? text : "") + textOfTsx(root) + textOfTsx(children);
}
