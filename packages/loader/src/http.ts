// Sends requests: a loop that carries out the actions of the core's exchange. Callers bring the `fetch`: in VS Code the
// global one, so that its proxy and certificates apply, and for servers on this machine one without a proxy.

import type { Core, Drain, Failure, HttpRequest, HttpResponse, Output, Pace, Report, Transport } from "./core.js";
import type { Prepared, Requests } from "./requests.js";

/** The time limit for a whole list of models, from the first byte sent to the last byte read. */
const LIST_TIMEOUT_MS = 30_000;
/**
 * The most bytes that the core reads at once. It is synchronous, and everything else in the extension host waits for
 * it.
 */
const PIECE_BYTES = 16 << 10;
/** After this much work, other extensions get their turn before the next piece is handled. */
const BUSY_MS = 20;

/** How to reach a server. */
export interface Server {
  /** The key, for its own origin only. */
  bearerFor(origin: string): Promise<string | undefined>;
  fetch(url: string, init: RequestInit): Promise<Response>;
}

export interface SendOptions {
  readonly server: Server;
  readonly prepared: Prepared;
  readonly idleTimeoutMs: number;
  /** When text is passed on. Default: as it arrives. */
  readonly pace?: Pace;
  /** Whether there is a note for every event. */
  readonly trace: boolean;
  readonly cancellation: AbortSignal;
  readonly onOutput: (output: Output) => void;
  /** Gets every response and its bytes as they arrive, for a recording. */
  readonly tape?: { head(status: number): void; bytes(bytes: Uint8Array): void } | undefined;
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
  /** The cause, such as `ENOTFOUND`, if there was no connection. */
  readonly code?: string | undefined;
}

export interface GetOptions {
  /** Whether the key is sent, which is the default. */
  readonly withKey?: boolean;
  readonly cancellation?: AbortSignal;
}

/**
 * Requests something small, such as the list of models. Both its size and its time are limited. The key is masked in the
 * response, which is shown and stored: servers quote keys that they refuse.
 */
export async function get(
  requests: Requests,
  server: Server,
  request: HttpRequest,
  options: GetOptions = {},
): Promise<HttpResponse | NoAnswer> {
  const bearer = await server.bearerFor(new URL(request.url).origin);
  const answer = await getUnmasked(requests, server, request, options.withKey === false ? undefined : bearer, options.cancellation);
  return "transport" in answer ? answer : requests.mask(bearer === undefined ? [] : [bearer], answer);
}

/** The same for a response that is neither shown nor stored: it may contain a new token. */
export async function getUnmasked(
  requests: Requests,
  server: Pick<Server, "fetch">,
  request: HttpRequest,
  bearer?: string,
  cancellation?: AbortSignal,
): Promise<HttpResponse | NoAnswer> {
  const { url, method } = request;
  const headers = withBearer(request, bearer);
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort("timeout"), LIST_TIMEOUT_MS);
  const signal = AbortSignal.any([controller.signal, ...(cancellation === undefined ? [] : [cancellation])]);
  let answer: HttpResponse | undefined;
  let mayBePartial = false;
  try {
    // The key must not follow a redirect.
    const response = await server.fetch(url, { method, headers, redirect: "manual", signal });
    const rule = requests.bodyRule(response.status);
    if (typeof rule === "string") {
      return { transport: rule };
    }
    ({ mayBePartial } = rule);
    answer = { status: response.status, headers: [...response.headers], body: "" };
    const decoder = new TextDecoder();
    // `fetch` decompresses: a kilobyte on the wire can become a megabyte here.
    let left = rule.maxBytes;
    for await (const chunk of response.body ?? []) {
      answer.body += decoder.decode(chunk.subarray(0, left), { stream: true });
      left -= chunk.length;
      if (left < 0) {
        return mayBePartial ? answer : { transport: "tooLarge" };
      }
    }
    return answer;
  } catch (cause) {
    if (answer !== undefined && mayBePartial) {
      return answer;
    }
    if (signal.reason === "timeout") {
      return { transport: "headersTimeout" };
    }
    return answer === undefined ? { transport: "connect", code: codeOf(cause) } : { transport: "broken" };
  } finally {
    clearTimeout(timer);
    // This stops the transfer of the unread rest.
    controller.abort();
  }
}

/** Node puts the code of an error into its cause, Electron into the message. An error's own text may quote the request. */
function codeOf(error: unknown): string | undefined {
  const { message, cause } = (error ?? {}) as { message?: unknown; cause?: { code?: unknown } };
  return typeof cause?.code === "string" ? cause.code : /net::(ERR_\w+)/.exec(String(message))?.[1];
}

/**
 * Sends a request and passes on the outputs, until the core says that it is over. Rejects only if the caller's code
 * throws.
 */
export async function exchange(core: Core, requests: Requests, options: SendOptions): Promise<Answered> {
  const { server, prepared, idleTimeoutMs, pace = "immediate", trace, cancellation } = options;
  const { request, origin, baseUrl, model, optional, toolNames } = prepared;
  const exchange = core.openExchange({ origin, baseUrl, model, optional, idleTimeoutMs, pace, stream: { toolNames, trace } });
  let secrets: string[] = [];
  // Aborting it closes the socket.
  let controller = new AbortController();
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  /** The next bytes, while the core waits for them or for the time to show text. */
  let reading: Promise<ReadableStreamReadResult<Uint8Array>> | undefined;
  let isDraining = false;
  const turn = new Turn();

  const give = async (outputs: Output[]): Promise<void> => {
    for (const output of outputs) {
      // The listener may cancel while there are more outputs from the same bytes.
      if (cancellation.aborted) {
        exchange.cancel({ unseenOutputs: true });
        return;
      }
      options.onOutput(output);
      await turn.end();
    }
  };
  /** Waits for the network. Returns undefined if the operation didn't succeed, which the exchange then knows. */
  const waitFor = async <T>(operation: Promise<T>, timeoutMs: number, error: "connect" | "broken"): Promise<T | undefined> => {
    const result = await turn.idle(settled(operation, timeoutMs, cancellation));
    if (typeof result === "object" && "value" in result) {
      return result.value;
    }
    if (result !== "cancelled") {
      await give(result === "timeout" ? exchange.handleTimeout() : exchange.handleConnectionError(error, codeOf(result.failed)));
    }
    return undefined;
  };

  try {
    for (;;) {
      const action = exchange.action;
      if (cancellation.aborted && action.type !== "end") {
        exchange.cancel().forEach(options.onOutput);
        continue;
      }
      switch (action.type) {
        case "send": {
          controller.abort();
          controller = new AbortController();
          const bearer = await server.bearerFor(origin);
          secrets = bearer === undefined ? [] : [bearer];
          const { method } = request;
          // Another address has the same origin, so the key may go there.
          const url = action.url ?? request.url;
          const headers = withBearer(request, bearer);
          const body = action.without.length === 0 ? prepared.body : requests.leaveOut(prepared.body, action.without);
          // The key must not follow a redirect.
          const sending = server.fetch(url, { method, headers, body, redirect: "manual", signal: controller.signal });
          const response = await waitFor(sending, action.timeoutMs, "connect");
          if (response !== undefined) {
            options.tape?.head(response.status);
            reader = response.body?.getReader();
            reading = undefined;
            await give(exchange.handleHead(response.status, response.headers));
          }
          break;
        }
        case "read": {
          reading ??= reader?.read() ?? NO_BODY;
          const chunk = await waitFor(reading, action.timeoutMs, "broken");
          if (chunk !== undefined) {
            reading = undefined;
          }
          if (chunk?.done === true) {
            await give(exchange.handleEnd());
          }
          const bytes = chunk?.value ?? NO_BYTES;
          options.tape?.bytes(bytes);
          for (let at = 0; at < bytes.length && exchange.action.type === "read"; at += PIECE_BYTES) {
            await give(exchange.handleBytes(bytes.subarray(at, at + PIECE_BYTES)));
            await turn.end();
          }
          break;
        }
        case "wait":
          options.onRetry(requests.mask(secrets, action.failure), action.timeoutMs);
          await waitFor(new Promise<never>(() => undefined), action.timeoutMs, "connect");
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

/** Lets other extensions run after a while of work. */
class Turn {
  /** When it began, not counting the time spent waiting. */
  #began = performance.now();

  /** Ends the turn if it has been long enough. */
  async end(): Promise<void> {
    if (performance.now() - this.#began > BUSY_MS) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      this.#began = performance.now();
    }
  }

  /** Waits without working. */
  async idle<T>(operation: Promise<T>): Promise<T> {
    const began = performance.now();
    const result = await operation;
    this.#began += performance.now() - began;
    return result;
  }
}

const NO_BYTES = new Uint8Array();
const NO_BODY = Promise.resolve({ done: true, value: undefined } as const);

type Settled<T> = { readonly value: T } | { readonly failed: unknown } | "timeout" | "cancelled";

/** Returns the result of an operation, unless it fails, takes too long or is cancelled first. */
function settled<T>(operation: Promise<T>, timeoutMs: number, cancellation: AbortSignal): Promise<Settled<T>> {
  return new Promise((resolve) => {
    const end = (result: Settled<T>): void => {
      clearTimeout(timer);
      cancellation.removeEventListener("abort", cancel);
      resolve(result);
    };
    const cancel = (): void => end("cancelled");
    const timer = setTimeout(() => end("timeout"), timeoutMs);
    cancellation.addEventListener("abort", cancel);
    operation.then(
      (value) => end({ value }),
      (error: unknown) => end({ failed: error }),
    );
  });
}

/** Returns whether a key can be sent. Other characters are mistakes: a line break, a space, a typographic quote. */
export function isHeaderSafe(key: string): boolean {
  return /^[\x21-\x7e]+$/.test(key);
}

function withBearer({ headers }: HttpRequest, bearer: string | undefined): [string, string][] {
  if (bearer !== undefined && !isHeaderSafe(bearer)) {
    // `fetch` would refuse it with a message that quotes the key.
    throw new Error("The key has characters that cannot be sent in a header.");
  }
  return bearer === undefined ? headers : [...headers, ["authorization", `Bearer ${bearer}`]];
}

/** Reads the rest of a body, because a connection can serve the next request only if its body was read to the end. */
async function drain(reader: ReadableStreamDefaultReader<Uint8Array>, controller: AbortController, limits: Drain): Promise<void> {
  const timer = setTimeout(() => controller.abort(), limits.timeoutMs);
  for (let left = limits.maxBytes; left > 0; ) {
    // The answer is complete, so it doesn't matter how its connection ends.
    const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }) as const);
    if (done) {
      return clearTimeout(timer);
    }
    left -= value.length;
  }
  clearTimeout(timer);
  controller.abort();
}
