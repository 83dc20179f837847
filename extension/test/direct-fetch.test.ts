// Requests to this machine behave like `fetch` and bypass every proxy.

import assert from "node:assert/strict";
import http from "node:http";
import net, { type AddressInfo } from "node:net";
import { test } from "node:test";

import { directFetch, fetchFor } from "../../packages/loader/src/direct-fetch.js";

async function serve(answer: http.RequestListener, work: (origin: string, server: http.Server) => Promise<void>): Promise<void> {
  const server = http.createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, server);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test("only this machine and plain http go around VS Code's fetch", () => {
  assert.equal(fetchFor({ isLoopback: true, isUnencrypted: false }), directFetch);
  assert.equal(fetchFor({ isLoopback: false, isUnencrypted: true }), directFetch);
  assert.notEqual(fetchFor({ isLoopback: false, isUnencrypted: false }), directFetch);
});

test("https connects directly too", async () => {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const firstByte = new Promise<number | undefined>((resolve) =>
    server.once("connection", (socket) => {
      socket.on("error", () => undefined);
      socket.once("data", (bytes) => {
        resolve(bytes[0]);
        socket.destroy();
      });
    }),
  );
  try {
    await assert.rejects(directFetch(`https://127.0.0.1:${(server.address() as AddressInfo).port}/v1/models`, {}), TypeError);
    // The first byte of a TLS handshake. A proxy would get the text `CONNECT`.
    assert.equal(await firstByte, 0x16);
  } finally {
    server.close();
  }
});

test("requests and responses arrive complete", async () => {
  const answer: http.RequestListener = async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    response.writeHead(201, { "x-seen": `${request.method} ${request.url} ${String(request.headers["x-one"])}` }).end(body);
  };
  await serve(answer, async (origin) => {
    const body = "grün ".repeat(100_000);
    const response = await directFetch(`${origin}/v1/a?b=c`, { method: "POST", headers: [["x-one", "1"]], body });
    assert.deepEqual([response.status, response.headers.get("x-seen")], [201, "POST /v1/a?b=c 1"]);
    assert.equal(await response.text(), body);
  });
});

test("redirects are not followed, and a status without a body has none", async () => {
  await serve(
    (request, response) => response.writeHead(Number(request.url!.slice(1)), { location: "/200" }).end(),
    async (origin) => {
      for (const status of [204, 302, 304, 500]) {
        const response = await directFetch(`${origin}/${status}`, {});
        assert.deepEqual([response.status, await response.text()], [status, ""]);
      }
    },
  );
});

test("failures look like those of fetch", async () => {
  const closed: http.RequestListener = (_request, response) => void response.socket!.destroy();
  await serve(closed, async (origin) => {
    await assert.rejects(
      directFetch(origin, {}),
      (error) => error instanceof TypeError && (error.cause as { code: string }).code === "ECONNRESET",
    );
  });
  for (const begun of [
    "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\nno chunk\r\n",
  ]) {
    await serve(
      (_request, response) => void response.socket!.end(begun),
      async (origin) => {
        const read = async (): Promise<string> => (await directFetch(origin, {})).text();
        await assert.rejects(read(), TypeError);
      },
    );
  }
});

test("a signal ends it, before and during the response, with the signal's reason", async () => {
  const silent: http.RequestListener = (request, response) => {
    if (request.url === "/begins") {
      response.writeHead(200);
      response.write("begun");
    }
  };
  await serve(silent, async (origin, server) => {
    const reason = new DOMException("enough", "TimeoutError");
    await assert.rejects(directFetch(origin, { signal: AbortSignal.abort(reason) }), (error) => error === reason);

    const waiting = new AbortController();
    server.once("request", () => waiting.abort(reason));
    await assert.rejects(directFetch(origin, { signal: waiting.signal }), (error) => error === reason);

    const reading = new AbortController();
    const response = await directFetch(`${origin}/begins`, { signal: reading.signal });
    const reader = response.body!.getReader();
    assert.equal(new TextDecoder().decode((await reader.read()).value), "begun");
    reading.abort(reason);
    await assert.rejects(reader.read(), (error) => error === reason);
  });
});

test("the connection is closed when the caller stops reading", async () => {
  let hungUp: () => void;
  const gone = new Promise<void>((resolve) => (hungUp = resolve));
  const endless: http.RequestListener = (_request, response) => {
    response.once("close", () => hungUp());
    const more = (): void => {
      while (!response.destroyed && response.write("x".repeat(65_536)));
    };
    response.on("drain", more);
    more();
  };
  await serve(endless, async (origin) => {
    const response = await directFetch(origin, {});
    const reader = response.body!.getReader();
    await reader.read();
    await reader.cancel();
    await gone;
  });
});
