// A long conversation with tools.

/** A chat of tool rounds, with about this many bytes. */
export function history(bytes) {
  const messages = [{ role: "user", content: [{ type: "text", value: "Find out why the test fails." }] }];
  const line = '  const total = values.reduce((sum, { price }) => sum + price, 0); // "net"\n';
  for (let size = 0, round = 0; size < bytes; round++) {
    const value = line.repeat(Math.min(100, Math.ceil(bytes / line.length / 2)));
    size += value.length;
    const input = { path: `src/file${round}.ts`, from: 1, to: 100 };
    messages.push(
      { role: "assistant", content: [{ type: "toolCall", callId: `call_${round}`, name: "read_file", inputJson: JSON.stringify(input) }] },
      { role: "user", content: [{ type: "toolResult", callId: `call_${round}`, content: [{ type: "text", value }] }] },
    );
  }
  const inputSchema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
  const tools = [{ name: "read_file", description: "Reads a file.", inputSchema }];
  return { model: "openai/gpt-5", messages, tools, toolMode: "auto", options: {} };
}
