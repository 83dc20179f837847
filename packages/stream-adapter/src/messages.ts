// The other half of a provider: VS Code's messages and tools become the input of a request. The core decides what is sent,
// as it does for the Sluice extension: every call has a result, images and PDFs are recognized by their bytes, call ids
// lose their prefix, and reasoning goes back only to the model and the server that produced it.

import { fromBase64 } from "../../loader/src/base64.js";
import { loadRequests, type Requests } from "../../loader/src/requests.js";
import { type RequestMessage, toMessage } from "./chat.js";
import { embedded } from "./embedded.js";

export type { RequestMessage } from "./chat.js";

/** The requests module, compressed and as base64, inserted by scripts/build.mjs. */
declare const SLUICE_REQUESTS_WASM: string;

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

/** The versions of the AI SDK. They differ in how an image in a tool's result is written. */
export type SdkVersion = 5 | 6 | 7;

/** What `streamText` gets for a chat. */
export interface SdkPrompt<Version extends SdkVersion = 7> {
  /** The system messages. Version 7 of the SDK refuses them among the others. */
  system?: string;
  messages: SdkMessage<Version>[];
}

/** A message of the AI SDK (`ModelMessage`) other than a system message. */
export type SdkMessage<Version extends SdkVersion = 7> =
  | { role: "user"; content: (SdkText | SdkFile)[] }
  | { role: "assistant"; content: (SdkText | SdkFile | SdkToolCall)[] }
  | { role: "tool"; content: SdkToolResult<Version>[] };

export interface SdkText {
  type: "text";
  text: string;
}

/** An image or another file. */
export interface SdkFile {
  type: "file";
  data: Uint8Array;
  mediaType: string;
  filename?: string;
}

export interface SdkToolCall {
  type: "tool-call";
  toolCallId: string;
  toolName: string;
  input: unknown;
}

export interface SdkToolResult<Version extends SdkVersion = 7> {
  type: "tool-result";
  toolCallId: string;
  toolName: string;
  output: { type: "text"; value: string } | { type: "content"; value: (SdkText | SdkImage<Version>)[] };
}

/** An image in a tool's result, as base64. */
export type SdkImage<Version extends SdkVersion = 7> = Version extends 7
  ? { type: "file"; data: { type: "data"; data: string }; mediaType: string }
  : { type: "media"; data: string; mediaType: string };

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

/**
 * Converts a chat to a prompt of the AI SDK: `streamText({ model, ...(await toSdkPrompt(messages)) })`. The default is version 7 of
 * the SDK.
 */
export async function toSdkPrompt<Version extends SdkVersion = 7>(
  messages: readonly RequestMessage[],
  options?: { version?: Version },
): Promise<SdkPrompt<Version>> {
  const { instructions, input } = await build(messages, { model: "", baseUrl: "http://127.0.0.1/v1" });
  const converted: SdkMessage<Version>[] = [];
  const names = new Map<string, string>();
  const add = (message: SdkMessage<Version>): void => {
    const last = converted.at(-1);
    if (last?.role === message.role) {
      (last.content as unknown[]).push(...message.content);
    } else {
      converted.push(message);
    }
  };
  for (const item of input) {
    switch (item.type) {
      case "message":
        add({ role: item.role === "assistant" ? "assistant" : "user", content: item.content.map(toSdkContent) });
        break;
      case "function_call": {
        const call: SdkToolCall = { type: "tool-call", toolCallId: item.call_id, toolName: item.name, input: JSON.parse(item.arguments) };
        names.set(item.call_id, item.name);
        add({ role: "assistant", content: [call] });
        break;
      }
      case "function_call_output": {
        const toolName = names.get(item.call_id) ?? "tool";
        const output = toSdkOutput<Version>(item.output, options?.version ?? 7);
        add({ role: "tool", content: [{ type: "tool-result", toolCallId: item.call_id, toolName, output }] });
        break;
      }
    }
  }
  return { ...(instructions === undefined ? {} : { system: instructions }), messages: converted };
}

/**
 * Converts a chat to messages of the AI SDK (`ModelMessage[]`). The system messages come first, as one; `streamText` of version 7
 * accepts it with `allowSystemInMessages`.
 */
export async function toModelMessages<Version extends SdkVersion = 7>(
  messages: readonly RequestMessage[],
  options?: { version?: Version },
): Promise<({ role: "system"; content: string } | SdkMessage<Version>)[]> {
  const { system, messages: others } = await toSdkPrompt(messages, options);
  return system === undefined ? others : [{ role: "system", content: system }, ...others];
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

function toSdkContent(content: Content): SdkText | SdkFile {
  const url = content.image_url ?? content.file_data;
  if (url === undefined) {
    return { type: "text", text: content.text ?? "" };
  }
  const { data, mediaType } = fromDataUrl(url);
  return { type: "file", data: fromBase64(data), mediaType, ...(content.filename === undefined ? {} : { filename: content.filename }) };
}

function toSdkOutput<Version extends SdkVersion>(output: string | Content[], version: SdkVersion): SdkToolResult<Version>["output"] {
  if (typeof output === "string") {
    return { type: "text", value: output };
  }
  const value = output.map((content): SdkText | SdkImage<SdkVersion> => {
    if (content.image_url === undefined) {
      return { type: "text", text: content.text ?? "" };
    }
    const { data, mediaType } = fromDataUrl(content.image_url);
    return version === 7 ? { type: "file", data: { type: "data", data }, mediaType } : { type: "media", data, mediaType };
  });
  return { type: "content", value: value as (SdkText | SdkImage<Version>)[] };
}

function fromDataUrl(url: string): { data: string; mediaType: string } {
  const [, mediaType = "", data = ""] = /^data:([^;]*);base64,(.*)$/s.exec(url) ?? [];
  return { data, mediaType };
}
