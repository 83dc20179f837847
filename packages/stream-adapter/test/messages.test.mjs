// VS Code's messages and tools become the input of a request, for Open Responses and for the AI SDK.

import assert from "node:assert/strict";
import { test } from "node:test";

import { toModelMessages, toResponsesInput, toSdkPrompt, toSdkTools } from "../dist/messages.mjs";

const [User, Assistant, System] = [1, 2, 3];
const text = (value) => ({ value });
const call = (callId, name, input) => ({ callId, name, input });
const result = (callId, ...content) => ({ callId, content });
const picture = { data: Uint8Array.from([0x47, 0x49, 0x46, 0x38, 0x39, 0x61, 1, 0, 1, 0]), mimeType: "image/png" };
const options = { model: "acme/one", baseUrl: "https://api.example.com/v1" };

const chat = [
  { role: System, content: [text("Be brief.")] },
  { role: User, content: [text("What is in a.txt?"), picture] },
  { role: Assistant, content: [text("I will look."), call("gw-call_1", "read_file", { path: "a.txt" })] },
  { role: User, content: [result("gw-call_1", text("The text."))] },
  { role: Assistant, content: [text("It says “The text.”")] },
  { role: User, content: [text("Thanks.")] },
];

test("a chat becomes the input of Open Responses", async () => {
  const tools = [
    { name: "read_file", description: "Reads a file", inputSchema: { type: "object", properties: { path: { type: "string" } } } },
  ];
  const body = await toResponsesInput(chat, { ...options, tools });
  assert.equal(body.instructions, "Be brief.");
  assert.deepEqual(
    body.input.map((item) => item.type),
    ["message", "message", "function_call", "function_call_output", "message", "message"],
  );
  assert.equal(body.input[0].content[1].image_url.slice(0, 22), "data:image/gif;base64,");
  assert.deepEqual(body.input[2], { type: "function_call", call_id: "call_1", name: "read_file", arguments: '{"path":"a.txt"}' });
  assert.deepEqual(body.input[3], { type: "function_call_output", call_id: "call_1", output: "The text." });
  assert.deepEqual([body.tools[0].type, body.tools[0].name, body.store], ["function", "read_file", false]);
});

test("every call has a result, and every result a call", async () => {
  const broken = [
    { role: User, content: [text("Go."), result("nobody", text("lost"))] },
    { role: Assistant, content: [call("a", "f", {}), call("b", "g", undefined)] },
    { role: User, content: [result("b", text("done"))] },
    { role: User, content: "And now?" },
  ];
  const { input } = await toResponsesInput(broken, options);
  const ids = (type) => input.filter((item) => item.type === type).map((item) => item.call_id);
  assert.deepEqual(ids("function_call").sort(), ids("function_call_output").sort());
  assert.deepEqual(ids("function_call"), ["a", "b"]);
});

test("a chat becomes messages of the AI SDK", async () => {
  assert.deepEqual(await toModelMessages(chat), [
    { role: "system", content: "Be brief." },
    {
      role: "user",
      content: [
        { type: "text", text: "What is in a.txt?" },
        { type: "file", data: picture.data, mediaType: "image/gif" },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "text", text: "I will look." },
        { type: "tool-call", toolCallId: "call_1", toolName: "read_file", input: { path: "a.txt" } },
      ],
    },
    {
      role: "tool",
      content: [{ type: "tool-result", toolCallId: "call_1", toolName: "read_file", output: { type: "text", value: "The text." } }],
    },
    { role: "assistant", content: [{ type: "text", text: "It says “The text.”" }] },
    { role: "user", content: [{ type: "text", text: "Thanks." }] },
  ]);
});

test("a prompt of the AI SDK has the instructions apart", async () => {
  const [system, ...messages] = await toModelMessages(chat);
  assert.deepEqual(await toSdkPrompt(chat), { system: system.content, messages });
  assert.deepEqual(await toSdkPrompt(chat.slice(-1)), { messages: [{ role: "user", content: [{ type: "text", text: "Thanks." }] }] });
});

test("an image in a result stays an image", async () => {
  const messages = [
    { role: User, content: "Look." },
    { role: Assistant, content: [call("c", "screenshot", {})] },
    { role: User, content: [result("c", text("Here:"), picture)] },
  ];
  for (const version of [undefined, 5, 6, 7]) {
    const tool = (await toModelMessages(messages, { version })).at(-1);
    assert.equal(tool.role, "tool");
    const [words, image] = tool.content[0].output.value;
    assert.deepEqual(words, { type: "text", text: "Here:" });
    const base64 = Buffer.from(picture.data).toString("base64");
    const expected =
      version === 5 || version === 6 ? { type: "media", data: base64 } : { type: "file", data: { type: "data", data: base64 } };
    assert.deepEqual(image, { ...expected, mediaType: "image/gif" });
  }
});

test("tools become the SDK's", () => {
  const schema = { type: "object", properties: { a: {} } };
  const tools = toSdkTools([{ name: "f", description: "d", inputSchema: schema }, { name: "g" }], (json) => ({ json }));
  assert.deepEqual(tools["f"], { description: "d", inputSchema: { json: schema } });
  assert.deepEqual(tools["g"], { description: "", inputSchema: { json: { type: "object", properties: {} } } });
  assert.deepEqual(
    toSdkTools(undefined, (json) => json),
    {},
  );
});

test("an address that nothing can be sent to is an error", async () => {
  await assert.rejects(toResponsesInput(chat, { ...options, baseUrl: "nonsense" }), /not a base URL/);
});
