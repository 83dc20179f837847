// One response over HTTP: sent, read until the core says that it is over, and sent again where the core says so.
// The connection's `fetch` is the global one, so that VS Code's proxy and certificates apply; for this machine, one without a proxy.

import * as vscode from "vscode";

import type {
  BodyEnd,
  Core,
  Decision,
  HttpAnswer,
  HttpRequest,
  Outcome,
  Output,
  ResponseStream,
  Transport,
} from "../../packages/loader/src/core.js";
import type { BuiltRequest } from "../../packages/loader/src/requests.js";
import type { Connection } from "./connections.js";

const HEADERS_TIMEOUT_MS = 120_000;
/** The most time for a whole list of models, from the first byte sent to the last one read. */
const LIST_TIMEOUT_MS = 30_000;
/** The most time for the whole body of an error. */
const ERROR_BODY_TIMEOUT_MS = 30_000;
/** How long the end of a body is waited for once the answer is over, so that the connection can be used again. */
const DRAIN_MS = 1_000;
/** The most that is read of a body while waiting for its end. */
const MAX_DRAIN = 64 << 10;
// All sizes count inflated bytes: `fetch` decompresses, and a kilobyte on the wire can become a megabyte here.
/** The most that is read of a list of models; a longer one is refused. */
export const MAX_LIST_BODY = 8 << 20;
/** The most that is read of an error; the rest is ignored. */
export const MAX_ERROR_BODY = 64 << 10;
/** The most that is read of an answer from a server that does not stream. */
const MAX_JSON_BODY = 64 << 20;
/** The most that the core reads in one go. It is synchronous, and everything else in the extension host waits for it. */
const PUSH_BYTES = 16 << 10;
/** After this much work, other extensions get their turn before the next piece is handled. */
const BUSY_MS = 20;

export interface Exchange {
  readonly connection: Connection;
  readonly built: BuiltRequest;
  readonly idleTimeoutMs: number;
  /** Give a note for every event. */
  readonly trace: boolean;
  readonly cancellation: AbortSignal;
  readonly onOutput: (output: Output) => void;
  /** Whether a tool call was among the outputs. */
  readonly calledTool: () => boolean;
  /** The message may quote the server; the outcome has the same in the protocol's words. */
  readonly onRetry: (message: string, delayMs: number, outcome: Outcome) => void;
}

/** Why there is no response to read. */
export interface NoAnswer {
  readonly transport: Transport;
  /** What `fetch` threw. */
  readonly cause?: unknown;
}

export interface GetOptions {
  /** Send the key with it, which is the default. */
  readonly withKey?: boolean;
  readonly cancellation?: AbortSignal;
}

/** Asks for something small, such as the list of models. Both its size and its time are limited. */
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
    // Whatever was not read is not sent either.
    controller.abort();
  }
}

export async function exchange(core: Core, options: Exchange): Promise<Decision> {
  for (let attempt = 1; ; attempt++) {
    const decision = await new Attempt(core, options, attempt).run();
    if (decision.step.type !== "retry") {
      return decision;
    }
    options.onRetry(decision.step.message, decision.step.delayMs, decision.outcome);
    await delay(decision.step.delayMs, options.cancellation);
  }
}

class Attempt {
  readonly #core: Core;
  readonly #options: Exchange;
  readonly #number: number;
  /** Aborting it closes the socket. */
  readonly #controller = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timedOut = false;
  /** Until it is concluded. */
  #stream: ResponseStream | undefined;
  /** Milliseconds of work since other extensions had their turn. */
  #busyMs = 0;

  constructor(core: Core, options: Exchange, number: number) {
    this.#core = core;
    this.#options = options;
    this.#number = number;
  }

  async run(): Promise<Decision> {
    const { cancellation } = this.#options;
    const cancel = (): void => this.#controller.abort();
    cancellation.addEventListener("abort", cancel);
    try {
      return await this.#exchange();
    } catch (error) {
      if (cancellation.aborted) {
        this.#stream ??= this.#core.openStream();
        return this.#conclude("cancelled");
      }
      if (!(error instanceof NetworkError)) {
        // Not the server's fault: asking again would not help. Nothing of the attempt may stay behind.
        this.#controller.abort();
        this.#release();
        throw error;
      }
      if (this.#stream !== undefined) {
        return this.#conclude(this.#timedOut ? "idleTimeout" : "broken");
      }
      return this.#decide({ transport: this.#timedOut ? "headersTimeout" : "connect" });
    } finally {
      clearTimeout(this.#timer);
      cancellation.removeEventListener("abort", cancel);
    }
  }

  async #exchange(): Promise<Decision> {
    const { connection, built, cancellation, trace } = this.#options;
    cancellation.throwIfAborted();
    const bearer = await connection.bearerFor(built.origin);
    const { method, url, body } = built.request;
    this.#expectWithin(HEADERS_TIMEOUT_MS);
    const response = await network(
      connection.fetch(url, {
        method,
        headers: withBearer(built.request, bearer),
        body,
        // The key must not follow a redirect.
        redirect: "manual",
        signal: this.#controller.signal,
      }),
    );
    if (isRedirect(response)) {
      this.#controller.abort();
      return this.#decide({ transport: "redirect" });
    }
    const kind = (response.headers.get("content-type") ?? "").split(";")[0]!.trim().toLowerCase();
    if (!response.ok || kind === "text/html") {
      this.#expectWithin(ERROR_BODY_TIMEOUT_MS);
      const { text } = await readText(response, MAX_ERROR_BODY);
      this.#controller.abort();
      cancellation.throwIfAborted();
      return this.#decide({ answer: answerOf(response, text) });
    }
    const toolNames = built.toolNames;
    if (kind === "application/json") {
      const { text, end } = await readText(response, MAX_JSON_BODY, () => this.#expectWithin(this.#options.idleTimeoutMs));
      cancellation.throwIfAborted();
      if (end !== "whole") {
        this.#controller.abort();
        return this.#decide({ transport: end === "tooLarge" ? "tooLarge" : this.#timedOut ? "idle" : "broken" });
      }
      const frame = this.#core.asStream(text);
      if (frame === null) {
        return this.#decide({ answer: answerOf(response, text.slice(0, MAX_ERROR_BODY)) });
      }
      await this.#push((this.#stream = this.#core.openStream({ trace, toolNames })), new TextEncoder().encode(frame));
      return this.#conclude("eof");
    }

    // Whatever else it calls itself, the core will tell whether it is a stream.
    const stream = (this.#stream = this.#core.openStream({ trace, toolNames }));
    const reader = response.body?.getReader();
    for (;;) {
      this.#expectWithin(this.#options.idleTimeoutMs);
      const chunk = reader && (await network(reader.read()));
      if (chunk === undefined || chunk.done) {
        return this.#conclude("eof");
      }
      await this.#push(stream, chunk.value);
      if (stream.isTerminal) {
        // The answer is over, whether or not the server closes.
        void drain(reader!, this.#controller);
        return this.#conclude("eof");
      }
    }
  }

  /** Hands bytes to the core and what they give to the caller; pauses where that takes long, so that nobody else has to wait. */
  async #push(stream: ResponseStream, bytes: Uint8Array): Promise<void> {
    const { cancellation, onOutput } = this.#options;
    let started = performance.now();
    const isBusy = (): boolean => this.#busyMs + performance.now() - started > BUSY_MS;
    const pause = async (): Promise<void> => {
      await new Promise((resolve) => setTimeout(resolve, 0));
      this.#busyMs = 0;
      started = performance.now();
    };
    for (let at = 0; at < bytes.length && !stream.isTerminal; at += PUSH_BYTES) {
      for (const output of stream.push(bytes.subarray(at, at + PUSH_BYTES))) {
        // Whoever hears a part may cancel there, with more of the same bytes to come.
        cancellation.throwIfAborted();
        onOutput(output);
        if (isBusy()) {
          await pause();
        }
      }
      if (isBusy()) {
        await pause();
      }
    }
    this.#busyMs += performance.now() - started;
  }

  #conclude(end: BodyEnd): Decision {
    const { outputs, ...decision } = this.#stream!.conclude(end, this.#circumstances());
    this.#stream = undefined;
    if (end !== "cancelled") {
      outputs.forEach(this.#options.onOutput);
    }
    return decision;
  }

  /** Frees what the core keeps of a stream that nobody will read to its end. */
  #release(): void {
    try {
      this.#stream?.finish("cancelled");
    } catch {
      // The core crashed, and its memory is gone with it.
    }
    this.#stream = undefined;
  }

  #decide(why: { answer: HttpAnswer } | { transport: Transport }): Decision {
    return this.#core.decideWithoutStream(this.#circumstances(), why);
  }

  #circumstances(): { host: string; attempt: number; calledTool: boolean } {
    return { host: this.#options.built.origin, attempt: this.#number, calledTool: this.#options.calledTool() };
  }

  #expectWithin(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timedOut = true;
      this.#controller.abort();
    }, ms);
  }
}

/** What `fetch` or the reader of a body threw: a connection that failed, broke or was aborted. No other error counts as one. */
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

/** Reads a body as text, up to a limit. Abort the request afterwards unless it is whole. */
export async function readText(
  response: Response,
  limit: number,
  onChunk?: () => void,
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
    onChunk?.();
    text += decoder.decode(chunk.value.subarray(0, left), { stream: true });
    left -= chunk.value.length;
    if (left < 0) {
      return { text, end: "tooLarge" };
    }
  }
}

/** Whether a key can be sent at all. Anything else in it was not meant to be: a line break, a space, a typographic quote. */
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

/** Browsers do not even tell the status. */
function isRedirect(response: Response): boolean {
  return response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400);
}

function answerOf(response: Response, body: string): HttpAnswer {
  return { status: response.status, headers: [...response.headers], body };
}

async function drain(reader: ReadableStreamDefaultReader<Uint8Array>, controller: AbortController): Promise<void> {
  const timer = setTimeout(() => controller.abort(), DRAIN_MS);
  try {
    for (let left = MAX_DRAIN; left > 0; ) {
      const { done, value } = await reader.read();
      if (done) {
        return;
      }
      left -= value.length;
    }
    controller.abort();
  } catch {
    // The answer is complete; how its connection ends is of no interest.
  } finally {
    clearTimeout(timer);
  }
}

/** Ends early when cancelled; the next attempt then ends at once. */
function delay(ms: number, cancellation: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      cancellation.removeEventListener("abort", done);
      resolve();
    }
    cancellation.addEventListener("abort", done);
  });
}
