// Counts requests with the npm package ai-tokenizer: `node ai-tokenizer.mjs NODE_MODULES < REQUESTS`. Each line of the input
// is the body of an Open Responses request. Each line of the output is a number, or `null` if the package doesn't know the
// model.

import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const require = createRequire(`${process.argv[2]}/`);
const { default: Tokenizer, models } = require("ai-tokenizer");
const { count } = require("ai-tokenizer/sdk");
const encodings = require("ai-tokenizer/encoding");

const tokenizers = new Map();
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  const model = models[modelName(request.model)];
  if (model === undefined) {
    console.log("null");
    continue;
  }
  let tokenizer = tokenizers.get(model.encoding);
  if (tokenizer === undefined) {
    tokenizer = new Tokenizer(encodings[model.encoding]);
    tokenizers.set(model.encoding, tokenizer);
  }
  console.log(count({ tokenizer, model, messages: messages(request), tools: tools(request) }).total);
}

/** Finds the model by its id, or by the longest id that its own begins with, because recorded ids often end with a date. */
function modelName(id) {
  const known = Object.keys(models).filter((name) => id.startsWith(name));
  return known.sort((one, other) => other.length - one.length)[0];
}

function messages({ instructions, input }) {
  const items = typeof input === "string" ? [{ role: "user", content: input }] : (input ?? []);
  const all = instructions ? [{ role: "system", content: instructions }] : [];
  const names = new Map();
  for (const item of items) {
    if (item.type === "function_call") {
      names.set(item.call_id, item.name);
      const call = { type: "tool-call", toolCallId: item.call_id, toolName: item.name, input: parsed(item.arguments) };
      all.push({ role: "assistant", content: [call] });
    } else if (item.type === "function_call_output") {
      const output = { type: "text", value: text(item.output) };
      all.push({
        role: "tool",
        content: [{ type: "tool-result", toolCallId: item.call_id, toolName: names.get(item.call_id) ?? "", output }],
      });
    } else if (item.role !== undefined) {
      all.push({ role: item.role === "developer" ? "system" : item.role, content: [{ type: "text", text: text(item.content) }] });
    }
  }
  return all;
}

function tools(request) {
  const functions = (request.tools ?? []).filter(({ type }) => type === "function");
  return Object.fromEntries(
    functions.map(({ name, description, parameters }) => [name, { description, inputSchema: asZod(parameters ?? {}) }]),
  );
}

/** The package reads only schemas of Zod, and of those only these fields. */
function asZod(schema) {
  const { type, description, properties, items } = schema;
  if (Array.isArray(schema.enum)) {
    return { description, _def: { type: "enum", values: schema.enum } };
  }
  if (type === "object" || properties !== undefined) {
    const shape = Object.fromEntries(Object.entries(properties ?? {}).map(([name, property]) => [name, asZod(property)]));
    return { description, _def: { type: "object", shape } };
  }
  return { description, _def: type === "array" && items !== undefined ? { type, element: asZod(items) } : { type } };
}

function text(content) {
  return typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("");
}

function parsed(json) {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}
