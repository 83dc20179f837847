// The versions of the AI SDK that are in use, each with its provider for Open Responses, or with OpenAI's.

const parameters = {
  type: "object",
  properties: { path: { type: "string" }, query: { type: "string" } },
};

/** Every pair of SDK and provider: `start(model, prompt, more)` returns what `streamText` returns. */
export async function sdks(baseURL) {
  const pairs = [];
  for (const [version, provider, name] of [
    [7, "open-responses-2", "@ai-sdk/open-responses 2"],
    [7, "openai-4", "@ai-sdk/openai 4"],
    [6, "open-responses-1", "@ai-sdk/open-responses 1"],
    [6, "openai-3", "@ai-sdk/openai 3"],
    [5, "openai-2", "@ai-sdk/openai 2"],
  ]) {
    const ai = await import(`ai-${version}`);
    const made = await import(provider);
    const model = provider.startsWith("openai")
      ? made.createOpenAI({ baseURL, apiKey: "demo", fetch: inOpenResponses }).responses
      : made.createOpenResponses({ name: "sluice", url: `${baseURL}/responses`, apiKey: "demo" });
    const tools = Object.fromEntries(
      ["read_file", "search"].map((tool) => [tool, ai.tool({ description: `Tool ${tool}`, inputSchema: ai.jsonSchema(parameters) })]),
    );
    const start = (id, prompt, { withTools, ...more } = {}) =>
      ai.streamText({
        model: model(id),
        prompt,
        maxRetries: 0,
        onError: () => {},
        ...(withTools ? { tools } : {}),
        ...more,
      });
    pairs.push({ name: `ai ${version} with ${name}`, provider, version, start, simulate: ai.simulateReadableStream });
  }
  return pairs;
}

/** OpenAI accepts messages without a type; Open Responses doesn't. */
function inOpenResponses(url, init) {
  const body = JSON.parse(init.body);
  body.input = body.input.map((item) => ({ type: "message", ...item }));
  return fetch(url, { ...init, body: JSON.stringify(body) });
}

/** The same request without an SDK. */
export function direct(baseURL, model, prompt, { withTools, abortSignal } = {}) {
  const tools = ["read_file", "search"].map((name) => ({
    type: "function",
    name,
    description: `Tool ${name}`,
    strict: false,
    parameters,
  }));
  return fetch(`${baseURL}/responses`, {
    method: "POST",
    headers: { authorization: "Bearer demo", "content-type": "application/json" },
    body: JSON.stringify({
      model,
      input: [{ type: "message", role: "user", content: [{ type: "input_text", text: prompt }] }],
      stream: true,
      ...(withTools ? { tools } : {}),
    }),
    signal: abortSignal,
  });
}
