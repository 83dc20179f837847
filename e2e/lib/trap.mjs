// A different origin that must never receive the key. It responds like a working gateway, and like a proxy.
import http from "node:http";

export async function startTrap() {
  /**
   * Every request it received, as text.
   * @type {string[]}
   */
  const seen = [];
  const server = http.createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    seen.push(`${request.method} ${request.url}\n${request.rawHeaders.join("\n")}\n${body}`);
    const model = { id: "sluice/echo", object: "model", name: "Trap", type: "language", context_window: 128_000, max_tokens: 16_384 };
    response.setHeader("content-type", "application/json").end(JSON.stringify({ object: "list", data: [model] }));
  });
  server.on("connect", (request, socket, head) => {
    seen.push(`CONNECT ${request.url}\n${request.rawHeaders.join("\n")}`);
    // The tunnel ends here, and what comes through it is read.
    socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
    socket.unshift(head);
    server.emit("connection", socket);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { origin: `http://127.0.0.1:${port}`, seen, close };
}
