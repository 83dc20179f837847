// Sends requests: a loop that carries out the actions of the core's exchange. The connection's `fetch` is the global
// one, so that VS Code's proxy and certificates apply; for this machine, it is one without a proxy.

import * as vscode from "vscode";

import type {
  Core,
  Drain,
  Failure,
  HttpAnswer,
  HttpRequest,
  Output,
  PreparedRequest,
  Report,
  Transport,
} from "../../packages/loader/src/core.js";
import type { Requests } from "../../packages/loader/src/requests.js";
import type { Connection } from "./connections.js";

/** The time limit for a whole list of models, from the first byte sent to the last byte read. */
const LIST_TIMEOUT_MS = 30_000;
// All sizes count inflated bytes: `fetch` decompresses, and a kilobyte on the wire can become a megabyte here.
/** The maximum size of a list of models. A longer one is refused. */
export const MAX_LIST_BODY = 8 << 20;
/** The maximum size of an error that is read. The rest is ignored. */
export const MAX_ERROR_BODY = 64 << 10;
/**
 * The most bytes that the core reads at once. It is synchronous, and everything else in the extension host waits for
 * it.
 */
const PIECE_BYTES = 16 << 10;
/** After this much work, other extensions get their turn before the next piece is handled. */
const BUSY_MS = 20;

export interface ExchangeOptions {
  readonly connection: Connection;
  readonly prepared: PreparedRequest;
  readonly idleTimeoutMs: number;
  /** Whether there is a note for every event. */
  readonly trace: boolean;
  readonly cancellation: AbortSignal;
  readonly onOutput: (output: Output) => void;
  /** The request will be sent again. The failure may quote the server. */
  readonly onRetry: (failure: Failure, delayMs: number) => void;
}

/** How an exchange ended. */
export interface Answered {
  readonly report: Report;
  /** What the ledger learns from it. */
  readonly ledgerEntry: string | undefined;
}

/** Why there is no response to read. */
export interface NoAnswer {
  readonly transport: Transport;
  /** The error that `fetch` threw. */
  readonly cause?: unknown;
}

export interface GetOptions {
  /** Whether the key is sent, which is the default. */
  readonly withKey?: boolean;
  readonly cancellation?: AbortSignal;
}

/** Requests something small, such as the list of models. Both its size and its time are limited. */
export async function get(
  connection: Connection,
  request: HttpRequest,
  { withKey = true, cancellation }: GetOptions = {},
): Promise<HttpAnswer | NoAnswer> {
  const bearer = withKey ? await connection.bearerFor(connection.endpoint.origin) : undefined;
  const headers = withBearer(request, bearer);
  const controller = new AbortController();
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    controller.abort();
  }, LIST_TIMEOUT_MS);
  const cancel = (): void => controller.abort();
  cancellation?.addEventListener("abort", cancel);
  try {
    cancellation?.throwIfAborted();
    const response = await network(
      connection.fetch(request.url, { method: request.method, headers, redirect: "manual", signal: controller.signal }),
    );
    if (response.status !== 304 && isRedirect(response)) {
      return { transport: "redirect" };
    }
    const { text, end, cause } = await readText(response, response.ok ? MAX_LIST_BODY : MAX_ERROR_BODY);
    if (response.ok && end !== "whole") {
      return end === "tooLarge" ? { transport: "tooLarge" } : { transport: timedOut ? "headersTimeout" : "broken", cause };
    }
    return answerOf(response, text);
  } catch (error) {
    if (!(error instanceof NetworkError) && cancellation?.aborted !== true) {
      throw error;
    }
    return { transport: timedOut ? "headersTimeout" : "connect", cause: error instanceof NetworkError ? error.cause : error };
  } finally {
    clearTimeout(timer);
    cancellation?.removeEventListener("abort", cancel);
    // This stops the transfer of the unread rest.
    controller.abort();
  }
}

/**
 * Sends a request and passes on the outputs, until the core says that it is over. Rejects only if the caller's code
 * throws.
 */
export async function exchange(core: Core, requests: Requests, options: ExchangeOptions): Promise<Answered> {
  const { connection, prepared, cancellation, onOutput } = options;
  const { request, origin } = prepared;
  const exchange = core.openExchange({
    origin,
    optional: prepared.optional,
    idleTimeoutMs: options.idleTimeoutMs,
    stream: { toolNames: prepared.toolNames, trace: options.trace },
  });
  const turn = new Turn();
  let secrets: string[] = [];
  // Aborting it closes the socket.
  let controller = new AbortController();
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  let isDraining = false;

  const give = async (outputs: Output[]): Promise<void> => {
    for (const output of outputs) {
      // The listener may cancel while there are more outputs from the same bytes.
      if (cancellation.aborted) {
        return exchange.cancel({ unseenOutputs: true });
      }
      onOutput(output);
      await turn.end();
    }
  };

  try {
    for (;;) {
      const action = exchange.action;
      if (cancellation.aborted && action.type !== "end") {
        exchange.cancel();
        continue;
      }
      switch (action.type) {
        case "send": {
          controller.abort();
          const sending = (controller = new AbortController());
          const bearer = await connection.bearerFor(origin);
          secrets = bearer === undefined ? [] : [bearer];
          const headers = withBearer(request, bearer);
          const body = action.without.length === 0 ? request.body : requests.leaveOut(request.body, action.without);
          const { url, method } = request;
          // The key must not follow a redirect.
          const response = connection.fetch(url, { method, headers, body, redirect: "manual", signal: sending.signal });
          const result = await settled(response, action.timeoutMs, cancellation);
          if (typeof result === "object") {
            reader = result.value.body?.getReader();
            await give(exchange.handleHead(result.value.status, result.value.headers));
          } else if (result !== "cancelled") {
            await give(result === "timeout" ? exchange.handleTimeout() : exchange.handleConnectionError("connect"));
          }
          break;
        }
        case "read": {
          const result = await settled(reader?.read() ?? NO_BODY, action.timeoutMs, cancellation);
          if (typeof result === "string") {
            if (result !== "cancelled") {
              await give(result === "timeout" ? exchange.handleTimeout() : exchange.handleConnectionError("broken"));
            }
          } else if (result.value.done) {
            await give(exchange.handleEnd());
          } else {
            const bytes = result.value.value;
            turn.begin();
            for (let at = 0; at < bytes.length && exchange.action.type === "read"; at += PIECE_BYTES) {
              await give(exchange.handleBytes(bytes.subarray(at, at + PIECE_BYTES)));
              await turn.end();
            }
            turn.pause();
          }
          break;
        }
        case "wait":
          options.onRetry(requests.mask(secrets, action.failure), action.timeoutMs);
          if ((await settled(new Promise<never>(() => undefined), action.timeoutMs, cancellation)) === "timeout") {
            await give(exchange.handleTimeout());
          }
          break;
        case "end": {
          const { ledgerEntry } = exchange;
          if (action.drain !== null && reader !== undefined) {
            isDraining = true;
            void drain(reader, controller, action.drain);
          }
          return { report: action.outcome.error === null ? action : requests.mask(secrets, action), ledgerEntry };
        }
      }
    }
  } finally {
    exchange.close();
    if (!isDraining) {
      controller.abort();
    }
  }
}

const NO_BODY = Promise.resolve({ done: true, value: undefined } as const);

/** Returns the result of an operation, unless it fails, takes too long or is cancelled first. */
function settled<T>(
  operation: Promise<T>,
  timeoutMs: number,
  cancellation: AbortSignal,
): Promise<{ value: T } | "failed" | "timeout" | "cancelled"> {
  return new Promise((resolve) => {
    const end = (result: { value: T } | "failed" | "timeout" | "cancelled"): void => {
      clearTimeout(timer);
      cancellation.removeEventListener("abort", cancel);
      resolve(result);
    };
    const cancel = (): void => end("cancelled");
    const timer = setTimeout(() => end("timeout"), timeoutMs);
    cancellation.addEventListener("abort", cancel);
    operation.then(
      (value) => end({ value }),
      () => end("failed"),
    );
  });
}

/** Lets the rest of the extension host run after every 20 ms of work. */
class Turn {
  #worked = 0;
  #since = performance.now();

  begin(): void {
    this.#since = performance.now();
  }

  pause(): void {
    this.#worked += performance.now() - this.#since;
  }

  async end(): Promise<void> {
    if (this.#worked + performance.now() - this.#since > BUSY_MS) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      this.#worked = 0;
      this.begin();
    }
  }
}

/**
 * An error of `fetch` or of the reader of a body: a connection that failed, broke or was aborted. No other error counts
 * as one.
 */
class NetworkError extends Error {
  override readonly name = "NetworkError";
}

async function network<T>(operation: Promise<T>): Promise<T> {
  try {
    return await operation;
  } catch (cause) {
    throw new NetworkError("the connection failed", { cause });
  }
}

/** Reads a body as text, up to a limit. Abort the request afterwards unless the body is complete. */
export async function readText(
  response: Response,
  limit: number,
): Promise<{ text: string; end: "whole" | "tooLarge" | "broken"; cause?: unknown }> {
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  let text = "";
  for (let left = limit; ; ) {
    let chunk;
    try {
      chunk = await reader?.read();
    } catch (cause) {
      return { text, end: "broken", cause };
    }
    if (chunk === undefined || chunk.done) {
      return { text: text + decoder.decode(), end: "whole" };
    }
    text += decoder.decode(chunk.value.subarray(0, left), { stream: true });
    left -= chunk.value.length;
    if (left < 0) {
      return { text, end: "tooLarge" };
    }
  }
}

/** Returns whether a key can be sent. Other characters are mistakes: a line break, a space, a typographic quote. */
export function isHeaderSafe(key: string): boolean {
  return /^[\x21-\x7e]+$/.test(key);
}

export function unusableKey(): string {
  return vscode.l10n.t(
    "The key contains a line break, a space or another character that is not allowed in a key, so nothing was sent. Copy the key again and enter it on one line.",
  );
}

function withBearer({ headers }: HttpRequest, bearer: string | undefined): [string, string][] {
  if (bearer === undefined) {
    return headers;
  }
  if (!isHeaderSafe(bearer)) {
    // `fetch` would refuse it with a message that quotes the key.
    throw new Error(unusableKey());
  }
  return [...headers, ["authorization", `Bearer ${bearer}`]];
}

/** Browsers don't even report the status. */
function isRedirect(response: Response): boolean {
  return response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400);
}

function answerOf(response: Response, body: string): HttpAnswer {
  return { status: response.status, headers: [...response.headers], body };
}

/** Reads the rest of a body, because a connection can serve the next request only if its body was read to the end. */
async function drain(reader: ReadableStreamDefaultReader<Uint8Array>, controller: AbortController, limits: Drain): Promise<void> {
  const timer = setTimeout(() => controller.abort(), limits.timeoutMs);
  try {
    for (let left = limits.maxBytes; left > 0; ) {
      const { done, value } = await reader.read();
      if (done) {
        return;
      }
      left -= value.length;
    }
    controller.abort();
  } catch {
    // The answer is complete, so it doesn't matter how its connection ends.
  } finally {
    clearTimeout(timer);
  }
}
