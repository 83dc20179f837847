// What our extension costs in long sessions: 150 models, conversations of megabytes, and a second start. Another extension asks
// and measures; see consumer/cases/session.js.
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { finish, openWindow, startServer } from "../lib/vscode.mjs";
import { collect } from "./api.mjs";

const here = import.meta.dirname;

/** Starts a server with 150 models. While it is `silent`, it doesn't answer, so that only a cache can. */
async function startModels() {
  const models = { url: "", silent: false, close: () => server.closeAllConnections() };
  const data = Array.from({ length: 150 }, (_, index) => ({
    id: `vendor${index % 12}/model-${index}`,
    name: `Model ${index}`,
    description: "A model for all kinds of work. ".repeat(8),
    type: "language",
    context_window: 2_000_000,
    max_tokens: 64_000,
    tags: ["reasoning", "tool-use", "vision", "implicit-caching"],
    pricing: { input: "0.00000125", output: "0.00001", input_cache_read: "0.000000125" },
  }));
  const at = { item_id: "msg_1", output_index: 0, content_index: 0 };
  const events = [
    { type: "response.created", response: { id: "resp_1", status: "in_progress", output: [] } },
    ...Array.from({ length: 200 }, (_, index) => ({ type: "response.output_text.delta", ...at, delta: `word${index} ` })),
    { type: "response.completed", response: { id: "resp_1", status: "completed", output: [] } },
  ];
  const answer = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  const server = http.createServer((request, response) => {
    if (models.silent) return;
    request.resume();
    const isList = request.method === "GET";
    response.setHeader("content-type", isList ? "application/json" : "text/event-stream");
    request.on("end", () => response.end(isList ? JSON.stringify({ object: "list", data }) : answer));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  models.url = `http://127.0.0.1:${address.port}/v1`;
  return models;
}

/** @param {import('../lib/setup.mjs').Setup} setup */
export async function session(setup) {
  const models = await startModels();
  let port = 0;
  for (const when of ["first", "again"]) {
    const results = path.join(setup.work, "session-results.jsonl");
    fs.rmSync(results, { force: true });
    models.silent = when === "again";
    const server = await startServer({
      ...setup,
      folder: path.join(setup.work, "session"),
      extensions: [...setup.extensions, path.join(here, "../consumer")],
      port,
      keep: when === "again",
      env: { SLUICE_BASE_URL: models.url, SLUICE_API_KEY: setup.key, SLUICE_E2E_RESULTS: results, SLUICE_E2E_SESSION: when },
    });
    ({ port } = server);
    const window = await openWindow(server, setup);
    try {
      await collect("session", results);
    } finally {
      await finish(setup, server, window);
    }
  }
  models.close();
}
