// How long it takes until a request arrives: `node send.mjs --core PATH --requests PATH --loader FOLDER [--quick]`.
//
// A server on another thread says when it had the first and the last byte of a body. The other contender turns the
// same chat into the same request by hand.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { isMainThread, parentPort, Worker } from "node:worker_threads";

import { history } from "./history.mjs";
import { Table } from "./report.mjs";
import { median } from "./timing.mjs";

const now = () => performance.timeOrigin + performance.now();

if (isMainThread) {
  await main();
} else {
  await serve();
}

async function serve() {
  const { createServer } = await import("node:http");
  const server = createServer((request, response) => {
    let first = 0;
    request.on("data", () => (first ||= now()));
    request.on("end", () => {
      parentPort.postMessage({ first, last: now() });
      response.setHeader("content-type", "text/event-stream");
      response.end('data: {"type":"response.completed","response":{}}\n\n');
    });
  });
  server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
}

/** The request as a program that needs only this would build it by hand. */
function byHand({ model, messages, tools }) {
  const input = messages.flatMap(({ role, content }) =>
    content.map((part) => {
      switch (part.type) {
        case "toolCall":
          return { type: "function_call", call_id: part.callId, name: part.name, arguments: part.inputJson };
        case "toolResult":
          return { type: "function_call_output", call_id: part.callId, output: part.content.map(({ value }) => value).join("") };
        default:
          return { type: "message", role, content: [{ type: "input_text", text: part.value }] };
      }
    }),
  );
  const functions = tools.map(({ name, description, inputSchema }) => ({ type: "function", name, description, parameters: inputSchema }));
  return JSON.stringify({ model, input, tools: functions, stream: true, store: false });
}

async function main() {
  const text = { type: "string" };
  const { values: options } = parseArgs({ options: { core: text, requests: text, loader: text, quick: { type: "boolean" } } });
  const load = (name) => import(join(options.loader, name));
  const [{ loadCore }, { loadRequests }, { exchange }] = await Promise.all(["core.js", "requests.js", "http.js"].map(load));
  const [core, requests] = [await loadCore(await readFile(options.core)), await loadRequests(await readFile(options.requests))];
  const worker = new Worker(new URL(import.meta.url));
  const message = () => new Promise((resolve) => worker.once("message", resolve));
  const base = `http://127.0.0.1:${await message()}/v1`;
  const server = { bearerFor: async () => "key", fetch };
  const contenders = {
    "by hand": async (chat) => {
      const headers = { "content-type": "application/json", authorization: "Bearer key" };
      const response = await fetch(`${base}/responses`, { method: "POST", headers, body: byHand(chat) });
      await response.text();
    },
    sluice: async (chat) => {
      const json = new TextEncoder().encode(JSON.stringify(chat));
      const prepared = requests.buildRequest(json, base);
      const cancellation = new AbortController().signal;
      const nothing = () => undefined;
      await exchange(core, requests, {
        server,
        prepared,
        idleTimeoutMs: 60_000,
        trace: false,
        cancellation,
        onOutput: nothing,
        onRetry: nothing,
      });
    },
  };
  const table = new Table("from the call to the first byte at the server, ms");
  for (const [name, bytes] of [
    ["12 KB", 12_000],
    ["680 KB", 680_000],
    ["2 MB", 2_000_000],
  ]) {
    const chat = history(bytes);
    const times = Object.keys(contenders).map(() => []);
    for (let round = 0; round < (options.quick ? 9 : 31); round++) {
      for (const [index, send] of Object.values(contenders).entries()) {
        const arrived = message();
        const before = now();
        const sent = send(chat);
        times[index].push((await arrived).first - before);
        await sent;
      }
    }
    const [hand, ours] = times.map(median);
    // The core reads the whole chat, pairs calls with results and repairs schemas, which the other contender doesn't do.
    table.aim(`${name}: by hand ${hand.toFixed(1)}, sluice ${ours.toFixed(1)}; sluice / by hand`, "", ours / hand, { atMost: 2.5 });
  }
  table.print();
  await worker.terminate();
}
