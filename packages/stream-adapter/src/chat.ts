// VS Code's messages become the core's.

import { toBase64 } from "../../loader/src/base64.js";
import type { ChatMessage, ChatPart } from "../../loader/src/core.js";

/** A message as VS Code passes it to `provideLanguageModelChatResponse`. */
export interface RequestMessage {
  readonly role: number;
  readonly content: readonly unknown[] | string;
}

export function toMessage({ role, content }: RequestMessage): ChatMessage {
  return { role: role === 2 ? "assistant" : role === 3 ? "system" : "user", content: toParts(content) };
}

function toParts(content: readonly unknown[] | string): ChatPart[] {
  return typeof content === "string" ? [{ type: "text", value: content }] : content.flatMap((part) => toPart(part) ?? []);
}

/** Recognizes VS Code's parts by their fields, because this package never imports its classes. */
function toPart(part: unknown): ChatPart | undefined {
  if (typeof part === "string") {
    return { type: "text", value: part };
  }
  if (typeof part !== "object" || part === null) {
    return undefined;
  }
  const fields = part as { [name: string]: unknown };
  const { callId, name, content, data, mimeType, value, metadata } = fields;
  if (typeof callId === "string" && typeof name === "string") {
    return { type: "toolCall", callId, name, inputJson: JSON.stringify(fields["input"] ?? {}) };
  }
  if (typeof callId === "string" && Array.isArray(content)) {
    return { type: "toolResult", callId, content: toParts(content), ...(fields["isError"] === true ? { isError: true } : {}) };
  }
  if (data instanceof Uint8Array && typeof mimeType === "string") {
    return { type: "data", mimeType, base64: toBase64(data) };
  }
  if ("metadata" in fields || "id" in fields) {
    const replay = (metadata as { replay?: never } | undefined)?.replay;
    return { type: "thinking", ...(replay === undefined ? {} : { replay }) };
  }
  return typeof value === "string" ? { type: "text", value } : undefined;
}
