// The readers that are compared. Each is loaded by an async function, because loading is measured too, and has a
// function `read(response)` that turns a fetched Response into an array of parts, as an extension's provider has to do.
// The handwritten reader is the fastest sensible JavaScript; the two SDKs are what most extensions use.

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { TOOL_NAMES } from "./corpus.mjs";

/** Returns a Response whose body arrives in exactly these chunks. */
export function respond(chunks) {
  let next = 0;
  const body = new ReadableStream({
    pull(controller) {
      if (next < chunks.length) controller.enqueue(chunks[next++]);
      else controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

/** The minimum: no reader of a body can be faster. */
export async function loadNothing() {
  const read = async (response) => {
    const reader = response.body.getReader();
    let bytes = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return bytes;
      bytes += value.length;
    }
  };
  return { name: "read the body, do nothing", read };
}

export async function loadSluice({ loader, wasm }) {
  const { loadCore } = await import(pathToFileURL(resolve(loader)));
  const bytes = await readFile(wasm);
  const start = performance.now();
  const core = await loadCore(bytes);
  const instantiate = performance.now() - start;

  const read = async (response) => {
    const parts = [];
    const stream = core.openStream();
    const reader = response.body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      for (const output of stream.handleBytes(value)) parts.push(output);
    }
    for (const output of stream.handleEnd()) parts.push(output);
    stream.close();
    return parts;
  };
  const readSync = (chunks) => {
    const parts = [];
    const stream = core.openStream();
    for (const chunk of chunks) {
      for (const output of stream.handleBytes(chunk)) parts.push(output);
    }
    for (const output of stream.handleEnd()) parts.push(output);
    stream.close();
    return parts;
  };
  return { name: "sluice", read, readSync, instantiate };
}

export async function loadHandWritten() {
  const { createParser } = await import("eventsource-parser");

  const open = (parts) => {
    const decoder = new TextDecoder();
    const parser = createParser({
      onEvent({ data }) {
        const event = JSON.parse(data);
        switch (event.type) {
          case "response.output_text.delta":
            parts.push({ type: "text", value: event.delta });
            break;
          case "response.output_item.done":
            pushCall(parts, event.item);
            break;
          case "response.failed":
          case "error":
            throw new Error(data);
        }
      },
    });
    return (chunk) => parser.feed(decoder.decode(chunk, { stream: true }));
  };
  const read = async (response) => {
    const parts = [];
    const push = open(parts);
    const reader = response.body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return parts;
      push(value);
    }
  };
  const readSync = (chunks) => {
    const parts = [];
    const push = open(parts);
    for (const chunk of chunks) push(chunk);
    return parts;
  };
  return { name: "hand-written, eventsource-parser", read, readSync };
}

export async function loadOpenAi() {
  const { default: OpenAI } = await import("openai");

  const read = async (response) => {
    const parts = [];
    const client = new OpenAI({ apiKey: "none", baseURL: "http://bench.invalid/v1", fetch: async () => response });
    for await (const event of await client.responses.create({ model: "made-up-1", input: "", stream: true })) {
      if (event.type === "response.output_text.delta") parts.push({ type: "text", value: event.delta });
      else if (event.type === "response.output_item.done") pushCall(parts, event.item);
    }
    return parts;
  };
  return { name: "openai SDK", read };
}

export async function loadAi() {
  const [{ streamText, tool, jsonSchema }, { createOpenResponses }] = await Promise.all([import("ai"), import("@ai-sdk/open-responses")]);
  const inputSchema = jsonSchema({ type: "object" });
  const tools = Object.fromEntries(TOOL_NAMES.map((name) => [name, tool({ inputSchema })]));

  const read = async (response) => {
    const parts = [];
    const provider = createOpenResponses({
      name: "bench",
      url: "http://bench.invalid/v1/responses",
      fetch: async () => response,
    });
    const result = streamText({ model: provider("made-up-1"), prompt: "Go on.", tools });
    for await (const part of result.stream) {
      if (part.type === "text-delta") parts.push({ type: "text", value: part.text });
      else if (part.type === "tool-call") {
        const { toolCallId: callId, toolName: name, input } = part;
        parts.push({ type: "toolCall", callId, name, input });
      } else if (part.type === "error") throw part.error;
    }
    return parts;
  };
  return { name: "ai streamText, open-responses", read };
}

export const LOADERS = {
  nothing: loadNothing,
  sluice: loadSluice,
  hand: loadHandWritten,
  openai: loadOpenAi,
  ai: loadAi,
};

function pushCall(parts, item) {
  if (item.type !== "function_call") return;
  parts.push({ type: "toolCall", callId: item.call_id, name: item.name, inputJson: item.arguments });
}

/** Throws if a reader doesn't get the expected contents out of a corpus. */
export function check(name, corpus, parts) {
  let text = "";
  const calls = [];
  for (const part of parts) {
    if (part.type === "text") text += part.value;
    else if (part.type === "toolCall") calls.push(part);
  }
  // Our ids have a prefix; see the core's call_id.rs.
  const shape = ({ callId, name, inputJson, input }) => JSON.stringify([callId.replace(/^gw-/, ""), name, input ?? JSON.parse(inputJson)]);
  const expected = corpus.truth.calls.map(shape).join("\n");
  if (text === corpus.truth.text && calls.map(shape).join("\n") === expected) return;
  throw new Error(
    `${name} reads the ${corpus.name} corpus wrongly: ${text.length} characters and ${calls.length} calls ` +
      `instead of ${corpus.truth.text.length} and ${corpus.truth.calls.length}`,
  );
}
