// `fetch` for servers on this machine and for plain http in private networks, without a proxy. For the former, plain http is
// allowed only because nothing leaves the machine, but VS Code's `fetch` would use a proxy: for 127.0.0.2 the one in `http.proxy` or HTTP_PROXY, and with some
// settings Node sends everything to the latter. VS Code patches `http.request` in the same way, but not the class
// behind it.

import type { Endpoint } from "./boundary.js";

/** The parts of Node's modules that are used here. */
interface Https {
  readonly Agent: new (options: { keepAlive: boolean }) => object;
}

interface Http extends Https {
  readonly ClientRequest: new (url: URL, options: object) => ClientRequest;
}

interface ClientRequest {
  on(event: "error", listener: (error: Error) => void): void;
  once(event: "response", listener: (message: IncomingMessage) => void): void;
  once(event: "close", listener: () => void): void;
  end(body: string | Uint8Array | undefined): void;
  destroy(): void;
}

interface IncomingMessage extends AsyncIterable<Uint8Array> {
  readonly statusCode?: number;
  readonly rawHeaders: readonly string[];
  resume(): void;
}

declare function require(name: "node:http"): Http;
declare function require(name: "node:https"): Https;

/** The agents, by protocol, keep connections for the next request. */
let node: { readonly http: Http; readonly agents: { readonly [protocol: string]: object } } | null | undefined;

/** Null in browsers, which have their own proxy rules. */
function nodeHttp(): NonNullable<typeof node> | null {
  if (node === undefined) {
    try {
      const http = require("node:http");
      const https = require("node:https");
      node = { http, agents: { "http:": new http.Agent({ keepAlive: true }), "https:": new https.Agent({ keepAlive: true }) } };
    } catch {
      node = null;
    }
  }
  return node;
}

/** Returns the `fetch` for a server: VS Code's, unless the server is on this machine or its connection isn't encrypted. */
export function fetchFor({
  isLoopback,
  isUnencrypted,
}: Pick<Endpoint, "isLoopback" | "isUnencrypted">): (url: string, init: RequestInit) => Promise<Response> {
  return (isLoopback || isUnencrypted) && nodeHttp() ? directFetch : (url, init) => fetch(url, init);
}

/** Behaves like `fetch` with `redirect: "manual"`. It fails with a TypeError, or with the signal's reason. */
export function directFetch(url: string, { method = "GET", headers, body, signal }: RequestInit): Promise<Response> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const { http, agents } = nodeHttp()!;
    const failure = (cause: unknown): unknown => (signal?.aborted ? signal.reason : new TypeError("fetch failed", { cause }));
    const address = new URL(url);
    const agent = agents[address.protocol];
    const request = new http.ClientRequest(address, { method, agent, headers: Object.fromEntries(new Headers(headers)) });
    // With Node's own `signal` option, a signal that comes late would destroy the socket after it went back to the agent.
    // Nobody handles that error, and the socket may have the next request.
    const abort = (): void => request.destroy();
    signal?.addEventListener("abort", abort);
    request.once("close", () => signal?.removeEventListener("abort", abort));
    request.on("error", (error) => reject(failure(error)));
    request.once("response", (message) => {
      const { statusCode: status = 0, rawHeaders } = message;
      const received = new Headers();
      for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
        received.append(rawHeaders[at]!, rawHeaders[at + 1]!);
      }
      const hasBody = ![204, 205, 304].includes(status);
      try {
        // Node's `Response` reads iterables, although its types don't say so.
        const stream = hasBody ? (bodyOf(message, failure) as unknown as ReadableStream) : null;
        resolve(new Response(stream, { status, headers: received }));
      } catch (error) {
        // This status or header is not allowed in a `Response`.
        request.destroy();
        reject(failure(error));
      }
      if (!hasBody) {
        message.resume();
      }
    });
    // Bodies come from the core and are text.
    request.end(body as string | Uint8Array | undefined);
  });
}

async function* bodyOf(message: IncomingMessage, failure: (cause: unknown) => unknown): AsyncGenerator<Uint8Array> {
  try {
    yield* message;
  } catch (error) {
    // The connection broke before the end, or the signal ended it.
    throw failure(error);
  }
}
