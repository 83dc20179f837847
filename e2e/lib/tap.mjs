// A proxy between VS Code and the embedded gateway that forwards and records everything: the key, the request, the
// usage that the server reported, and whether the client disconnected. It can add models to the list, which is how a
// fault gets into VS Code's model picker.
import http from "node:http";

/**
 * @typedef {object} Seen
 * @property {string} method
 * @property {string} path
 * @property {http.IncomingHttpHeaders} headers
 * @property {any} [body]
 * @property {number} [status]
 * @property {any} [usage] from the server's last event
 * @property {boolean} hungUp whether the client disconnected before the end
 * @property {boolean} ended
 */

/** @typedef {{ id: string, like: string, name?: string, change?: Record<string, unknown> }} ExtraModel */

/** @param {string} upstream the embedded gateway's base URL @param {{ models?: ExtraModel[], host?: string }} [options] */
export async function startTap(upstream, { models = [], host = "127.0.0.1" } = {}) {
  /** @type {Seen[]} */
  const seen = [];
  const target = new URL(upstream);
  const server = http.createServer(async (request, response) => {
    if (request.url === "/seen") return void response.end(JSON.stringify(seen));
    /** @type {Seen} */
    const entry = { method: request.method ?? "", path: request.url ?? "", headers: request.headers, hungUp: false, ended: false };
    seen.push(entry);
    /** @type {Buffer[]} */
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    entry.body = parse(body.toString());

    const headers = { ...request.headers, host: target.host };
    const list = request.method === "GET" && request.url === "/v1/models";
    if (list) delete headers["accept-encoding"];
    const asked = http.request({ host: target.hostname, port: target.port, path: request.url, method: request.method, headers });
    // A broken connection must also break on this side.
    asked.on("error", () => response.socket?.resetAndDestroy());
    response.on("close", () => {
      entry.hungUp = !response.writableFinished;
      entry.ended = true;
      asked.destroy();
    });
    asked.on("response", (reply) => {
      entry.status = reply.statusCode;
      if (list) return void withModels(reply, response, models);
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      response.flushHeaders();
      let tail = "";
      reply.on("data", (chunk) => {
        // The event with the usage is never this large.
        tail = tail.length > 1 << 20 ? "" : tail + chunk;
        for (let at; (at = tail.indexOf("\n")) >= 0; tail = tail.slice(at + 1)) {
          const usage = parse(tail.slice(0, at).replace(/^data: ?/, ""))?.response?.usage;
          if (usage) entry.usage = usage;
        }
        response.write(chunk);
      });
      reply.on("end", () => (reply.complete ? response.end() : response.destroy()));
      reply.on("error", () => response.destroy());
    });
    asked.end(body);
  });
  await new Promise((resolve) => server.listen(0, host, () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  const origin = `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
  return { origin, url: `${origin}/v1`, seen, close };
}

/** @param {http.IncomingMessage} reply @param {http.ServerResponse} response @param {ExtraModel[]} models */
async function withModels(reply, response, models) {
  let text = "";
  for await (const chunk of reply) text += chunk;
  const list = parse(text);
  // A server that refuses the key sends an error instead of a list.
  if (!list?.data) return response.writeHead(reply.statusCode ?? 502, reply.headers).end(text);
  for (const { id, like, name = id, change } of models) {
    const model = list.data.find((/** @type {{ id: string }} */ other) => other.id === like);
    list.data.push({ ...model, id, name, ...change });
  }
  response.writeHead(reply.statusCode ?? 502, { "content-type": "application/json" }).end(JSON.stringify(list));
}

/** @param {string} text */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
