// The other half of a provider: VS Code's messages and tools become the input of a request. The core decides what is sent,
// as it does for the Sluice extension: every call has a result, images and PDFs are recognized by their bytes, call ids
// lose their prefix, and reasoning goes back only to the model and the server that produced it.

import { fromBase64, toBase64 } from "../../loader/src/base64.js";
import type { ChatMessage, ChatPart } from "../../loader/src/core.js";
import { loadRequests, type Requests } from "../../loader/src/requests.js";
import { embedded } from "./embedded.js";

/** The requests module, compressed and as base64, inserted by scripts/build.mjs. */
declare const SLUICE_REQUESTS_WASM: string;

/** A message as VS Code passes it to `provideLanguageModelChatResponse`. */
export interface RequestMessage {
  readonly role: number;
  readonly content: readonly unknown[] | string;
}

/** A tool as VS Code passes it in `options.tools`. */
export interface RequestTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: object | undefined;
}

export interface ToResponsesOptions {
  /** The model's id, which also decides whose reasoning is sent back. */
  model: string;
  /** The base URL that the request goes to, such as `https://api.example.com/v1`. */
  baseUrl: string;
  /** VS Code's `options.tools`. */
  tools?: readonly RequestTool[] | undefined;
  /** Whether the model must call a tool (VS Code's `LanguageModelChatToolMode.Required`). */
  requireTool?: boolean;
}

/** The fields of an Open Responses request that come from a chat. */
export interface ResponsesInput {
  instructions?: string;
  input: object[];
  tools?: object[];
  tool_choice?: unknown;
  include: string[];
  store: false;
}

/** A message of the AI SDK (`ModelMessage`). */
export type SdkMessage =
  | { role: "system"; content: string }
  | { role: "user"; content: SdkContent[] }
  | { role: "assistant"; content: SdkContent[] }
  | { role: "tool"; content: SdkContent[] };

/** A part of a message of the AI SDK. */
export type SdkContent =
  | { type: "text"; text: string }
  | { type: "image"; image: Uint8Array; mediaType: string }
  | { type: "file"; data: Uint8Array; mediaType: string; filename?: string }
  | { type: "tool-call"; toolCallId: string; toolName: string; input: unknown }
  | { type: "tool-result"; toolCallId: string; toolName: string; output: SdkOutput };

type SdkOutput = { type: "text"; value: string } | { type: "content"; value: ({ type: "text"; text: string } | SdkMedia)[] };
type SdkMedia = { type: "media"; data: string; mediaType: string };

let requests: Promise<Requests> | undefined;

function theRequests(): Promise<Requests> {
  requests ??= embedded(SLUICE_REQUESTS_WASM).then(loadRequests);
  return requests;
}

/** Converts a chat to the fields of an Open Responses request. Add `model`, `stream: true` and your own options. */
export async function toResponsesInput(messages: readonly RequestMessage[], options: ToResponsesOptions): Promise<ResponsesInput> {
  const { instructions, input, tools, tool_choice, include } = await build(messages, options);
  return {
    ...(instructions === undefined ? {} : { instructions }),
    input,
    ...(tools === undefined ? {} : { tools }),
    ...(tool_choice === undefined ? {} : { tool_choice }),
    include,
    store: false,
  };
}

/** Converts a chat to the messages of the AI SDK, for `streamText({ messages })`. */
export async function toModelMessages(messages: readonly RequestMessage[]): Promise<SdkMessage[]> {
  const { instructions, input } = await build(messages, { model: "", baseUrl: "http://127.0.0.1/v1" });
  const converted: SdkMessage[] = instructions === undefined ? [] : [{ role: "system", content: instructions }];
  const names = new Map<string, string>();
  const add = (role: "user" | "assistant" | "tool", content: SdkContent[]): void => {
    const last = converted.at(-1);
    if (last?.role === role) {
      last.content.push(...content);
    } else {
      converted.push({ role, content });
    }
  };
  for (const item of input) {
    switch (item.type) {
      case "message":
        add(item.role === "assistant" ? "assistant" : "user", item.content.map(toSdkContent));
        break;
      case "function_call":
        names.set(item.call_id, item.name);
        add("assistant", [
          { type: "tool-call", toolCallId: item.call_id, toolName: item.name, input: JSON.parse(item.arguments) as unknown },
        ]);
        break;
      case "function_call_output": {
        const toolName = names.get(item.call_id) ?? "tool";
        add("tool", [{ type: "tool-result", toolCallId: item.call_id, toolName, output: toSdkOutput(item.output) }]);
        break;
      }
    }
  }
  return converted;
}

/** Returns VS Code's tools as the record of function tools that `streamText({ tools })` needs. VS Code runs them. */
export function toSdkTools<Schema>(
  tools: readonly RequestTool[] | undefined,
  jsonSchema: (schema: object) => Schema,
): { [name: string]: { description: string; inputSchema: Schema } } {
  return Object.fromEntries(
    (tools ?? []).map(({ name, description = "", inputSchema }) => {
      return [name, { description, inputSchema: jsonSchema(inputSchema ?? { type: "object", properties: {} }) }];
    }),
  );
}

interface Body {
  instructions?: string;
  input: Item[];
  tools?: object[];
  tool_choice?: unknown;
  include: string[];
}

type Content = { type: string; text?: string; image_url?: string; file_data?: string; filename?: string };
type Item =
  | { type: "message"; role: string; content: Content[] }
  | { type: "function_call"; call_id: string; name: string; arguments: string }
  | { type: "function_call_output"; call_id: string; output: string | Content[] }
  | { type: "reasoning" };

async function build(messages: readonly RequestMessage[], { model, baseUrl, tools, requireTool }: ToResponsesOptions): Promise<Body> {
  const chat = JSON.stringify({
    model,
    messages: messages.map(toMessage),
    tools: (tools ?? []).map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    toolMode: requireTool === true ? "required" : "auto",
  });
  const module = await theRequests();
  const endpoint = module.parseEndpoint(baseUrl);
  if (!("baseUrl" in endpoint)) {
    throw new TypeError(`This is not a base URL that requests can be sent to: ${baseUrl}`);
  }
  const { body } = module.buildRequest(new TextEncoder().encode(chat), baseUrl);
  return JSON.parse(new TextDecoder().decode(body)) as Body;
}

function toMessage({ role, content }: RequestMessage): ChatMessage {
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

function toSdkContent(content: Content): SdkContent {
  if (content.image_url !== undefined) {
    const { data, mediaType } = fromDataUrl(content.image_url);
    return { type: "image", image: fromBase64(data), mediaType };
  }
  if (content.file_data !== undefined) {
    const { data, mediaType } = fromDataUrl(content.file_data);
    return { type: "file", data: fromBase64(data), mediaType, ...(content.filename === undefined ? {} : { filename: content.filename }) };
  }
  return { type: "text", text: content.text ?? "" };
}

function toSdkOutput(output: string | Content[]): SdkOutput {
  if (typeof output === "string") {
    return { type: "text", value: output };
  }
  const value = output.map((content) => {
    const image = content.image_url;
    return image === undefined ? { type: "text" as const, text: content.text ?? "" } : { type: "media" as const, ...fromDataUrl(image) };
  });
  return { type: "content", value };
}

function fromDataUrl(url: string): { data: string; mediaType: string } {
  const [, mediaType = "", data = ""] = /^data:([^;]*);base64,(.*)$/s.exec(url) ?? [];
  return { data, mediaType };
}
