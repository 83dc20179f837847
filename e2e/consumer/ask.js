// Asks a Sluice model as any extension would, and returns the answer as plain values that can be compared.
const assert = require("node:assert/strict");
const vscode = require("vscode");

exports.user = (content) => vscode.LanguageModelChatMessage.User(content);
exports.assistant = (content) => vscode.LanguageModelChatMessage.Assistant(content);

/** Returns a model by its id. */
exports.model = async (id) => {
  const [model] = await vscode.lm.selectChatModels({ vendor: "sluice", id });
  assert.ok(model, `there is no model ${id}`);
  return model;
};

/** Returns every part of the answer. `which` is a model or its id. `onPart` may cancel. */
exports.parts = async (which, messages, options = {}, token, onPart) => {
  const model = typeof which === "string" ? await exports.model(which) : which;
  const response = await model.sendRequest(typeof messages === "string" ? [exports.user(messages)] : messages, options, token);
  const parts = [];
  for await (const part of response.stream) {
    parts.push(part);
    onPart?.(part);
  }
  return parts;
};

/** Converts the parts to plain objects and joins adjacent text and adjacent thinking. */
exports.plain = (parts) => {
  const plain = [];
  for (const part of parts.map(describe)) {
    const last = plain.at(-1);
    const kind = ["text", "thinking"].find((kind) => last?.[kind] !== undefined && part[kind] !== undefined);
    if (kind && part.replay === undefined) last[kind] += part[kind];
    else plain.push(part);
  }
  return plain;
};

function describe(part) {
  if (part instanceof vscode.LanguageModelTextPart) return { text: part.value };
  if (part instanceof vscode.LanguageModelToolCallPart) return { call: part.name, id: part.callId, input: part.input };
  if (part instanceof vscode.LanguageModelThinkingPart) {
    const metadata = part.metadata && Object.keys(part.metadata).length ? part.metadata : undefined;
    return metadata ? { thinking: part.value, replay: metadata } : { thinking: part.value };
  }
  if (part instanceof vscode.LanguageModelDataPart) {
    const text = Buffer.from(part.data).toString();
    if (part.mimeType === "usage") return { usage: JSON.parse(text) };
    if (part.mimeType === "stateful_marker") return { marker: text };
    return { data: part.mimeType, base64: Buffer.from(part.data).toString("base64") };
  }
  return { unknown: part?.constructor?.name };
}

/** Returns the content parts: without usage and marker, which have their own checks. */
exports.said = (parts) =>
  exports.plain(parts).filter((part) => part.usage === undefined && part.marker === undefined && part.replay === undefined);

/** Returns the error that `answer` rejects with; throws if it resolves. */
exports.failure = async (answer) => {
  try {
    await answer;
  } catch (error) {
    return error;
  }
  throw new Error("this was expected to fail");
};

/** Returns the requests for one model that the tap recorded. */
exports.seen = async (id) => {
  const response = await fetch(`${process.env.SLUICE_E2E_TAP}/seen`);
  return (await response.json()).filter((seen) => seen.body?.model === id);
};

/** Waits until a condition holds. The deadline only turns a hang into an error. */
exports.until = async (what, condition) => {
  const end = performance.now() + 60_000;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`waited a minute in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
};
