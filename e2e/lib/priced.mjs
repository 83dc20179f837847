// A gateway whose model calls a tool in every answer and reports what each answer cost.
import http from "node:http";

/** What every answer costs, in US dollars. The prices say the same. */
export const COST = 0.4;
const OUTPUT = 1_000;

const MODEL = {
  id: "acme/priced",
  object: "model",
  name: "Priced",
  type: "language",
  tags: ["tool-use"],
  context_window: 200_000,
  max_tokens: OUTPUT,
  pricing: { input: "0.00000001", output: String(COST / OUTPUT) },
};

/**
 * Starts it. `tool` is called with `input` in each of the first `rounds` answers to a question. No answer is sent before
 * `hold` is settled.
 * @param {{ tool?: string, input?: object, rounds?: number, inputTokens?: number, hold?: Promise<unknown> }} options
 */
export async function startPriced({ tool = "", input = {}, rounds = 0, inputTokens = 100, hold }) {
  /** How many requests arrived, and how many requests of the agent were answered. */
  const counts = { requests: 0, answers: 0 };
  const server = http.createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const json = (/** @type {unknown} */ value) =>
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
    if (request.url === "/v1/models") return json({ object: "list", data: [MODEL] });
    if (request.url === "/v1/credits") {
      return json({ balance: (100 - COST * counts.requests).toFixed(2), total_used: (COST * counts.requests).toFixed(2) });
    }
    if (request.url !== "/v1/responses") return json({});
    counts.requests += 1;
    await hold;
    const { tools = [], input: items = [] } = JSON.parse(body);
    const isAgent = tools.some((/** @type {{ name: string }} */ { name }) => name === tool);
    const last = items.findLastIndex((/** @type {{ role?: string }} */ { role }) => role === "user");
    const done = items.slice(last).filter((/** @type {{ type?: string }} */ { type }) => type === "function_call_output").length;
    if (isAgent) counts.answers += 1;
    response.writeHead(200, { "content-type": "text/event-stream" });
    const event = (/** @type {Record<string, unknown>} */ data) => response.write(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);
    const call = {
      type: "function_call",
      id: "fc",
      call_id: `call_${counts.answers}`,
      name: tool,
      arguments: JSON.stringify(input),
      status: "completed",
    };
    const message = {
      type: "message",
      id: "m",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "All done.", annotations: [] }],
    };
    const item = isAgent && done < rounds ? call : message;
    event({ type: "response.output_item.done", output_index: 0, item });
    const usage = { input_tokens: inputTokens, output_tokens: OUTPUT, total_tokens: inputTokens + OUTPUT };
    event({ type: "response.completed", response: { id: "r", status: "completed", output: [item], usage } });
    response.end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { baseUrl: `http://127.0.0.1:${port}/v1`, counts, close };
}
