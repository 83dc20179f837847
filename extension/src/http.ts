// One answer over HTTP: sent, read until the core says it is over, and asked for again where the core says so.
// The connection's `fetch` is the global one, so that VS Code's proxy and certificates apply.

import type { BodyEnd, Core, Decision, HttpAnswer, HttpRequest, Outcome, Output, ResponseStream, Transport } from "../../crates/sluice-wasm/js/src/core.js";
import type { BuiltRequest } from "../../crates/sluice-wasm/js/src/requests.js";
import type { Connection } from "./connections.js";

const HEADERS_TIMEOUT_MS = 120_000;
const LIST_TIMEOUT_MS = 30_000;
/** How long the end of a body is waited for once the answer is over, so that the connection can serve again. */
const DRAIN_MS = 1_000;
/** Of an answer that is no stream this much is read. */
const MAX_ERROR_BODY = 64 << 10;
/** A whole answer, from a server that does not stream. */
const MAX_JSON_BODY = 64 << 20;

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

/** Asks for something small, such as the list of models. */
export async function get(connection: Connection, request: HttpRequest): Promise<HttpAnswer | Transport> {
  const signal = AbortSignal.timeout(LIST_TIMEOUT_MS);
  const bearer = await connection.bearerFor(connection.endpoint.origin);
  const headers = withBearer(request, bearer);
  try {
    const response = await connection.fetch(request.url, { method: request.method, headers, redirect: "manual", signal });
    if (response.status !== 304 && isRedirect(response)) {
      return "redirect";
    }
    return answerOf(response, await response.text());
  } catch (error) {
    if (!isNetworkError(error)) {
      throw error;
    }
    return signal.aborted ? "headersTimeout" : "connect";
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
  #stream: ResponseStream | undefined;

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
      if (!this.#timedOut && !isNetworkError(error)) {
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
    const { connection, built, cancellation, onOutput, trace } = this.#options;
    cancellation.throwIfAborted();
    const bearer = await connection.bearerFor(built.origin);
    const { method, url, body } = built.request;
    this.#expectWithin(HEADERS_TIMEOUT_MS);
    const response = await connection.fetch(url, {
      method,
      headers: withBearer(built.request, bearer),
      body,
      // The key must not follow a redirect.
      redirect: "manual",
      signal: this.#controller.signal,
    });
    if (isRedirect(response)) {
      this.#controller.abort();
      return this.#decide({ transport: "redirect" });
    }
    const kind = (response.headers.get("content-type") ?? "").split(";")[0]!.trim().toLowerCase();
    if (!response.ok || kind === "text/html") {
      return this.#decide({ answer: answerOf(response, await this.#readText(response, MAX_ERROR_BODY)) });
    }
    const toolNames = built.toolNames;
    if (kind === "application/json") {
      const text = await this.#readText(response, MAX_JSON_BODY);
      const frame = this.#core.asStream(text);
      if (frame === null) {
        return this.#decide({ answer: answerOf(response, text.slice(0, MAX_ERROR_BODY)) });
      }
      this.#stream = this.#core.openStream({ trace, toolNames });
      this.#stream.push(new TextEncoder().encode(frame)).forEach(onOutput);
      return this.#conclude("eof");
    }

    // Whatever else it calls itself, the core will tell whether it is a stream.
    const stream = (this.#stream = this.#core.openStream({ trace, toolNames }));
    const reader = response.body?.getReader();
    for (;;) {
      this.#expectWithin(this.#options.idleTimeoutMs);
      const chunk = await reader?.read();
      if (chunk === undefined || chunk.done) {
        return this.#conclude("eof");
      }
      for (const output of stream.push(chunk.value)) {
        // Whoever hears a part may cancel there, with more of the same bytes to come.
        cancellation.throwIfAborted();
        onOutput(output);
      }
      if (stream.isTerminal) {
        // The answer is over, whether or not the server closes.
        void drain(reader!, this.#controller);
        return this.#conclude("eof");
      }
    }
  }

  #conclude(end: BodyEnd): Decision {
    const { outputs, ...decision } = this.#stream!.conclude(end, this.#circumstances());
    if (end !== "cancelled") {
      outputs.forEach(this.#options.onOutput);
    }
    return decision;
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

  /** As much as came, if it breaks off. */
  async #readText(response: Response, limit: number): Promise<string> {
    const decoder = new TextDecoder();
    let text = "";
    try {
      for await (const bytes of response.body ?? []) {
        this.#expectWithin(this.#options.idleTimeoutMs);
        text += decoder.decode(bytes, { stream: true });
        if (text.length > limit) {
          this.#controller.abort();
          break;
        }
      }
    } catch {
      this.#options.cancellation.throwIfAborted();
    }
    return text.slice(0, limit);
  }
}

function withBearer({ headers }: HttpRequest, bearer: string | undefined): [string, string][] {
  return bearer === undefined ? headers : [...headers, ["authorization", `Bearer ${bearer}`]];
}

/** Browsers do not even tell the status. */
function isRedirect(response: Response): boolean {
  return response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400);
}

function answerOf(response: Response, body: string): HttpAnswer {
  return { status: response.status, headers: [...response.headers], body };
}

/** `fetch` reports a connection that fails or breaks as a TypeError, an abort as a DOMException. */
function isNetworkError(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof DOMException && error.name !== "DataCloneError");
}

async function drain(reader: ReadableStreamDefaultReader<Uint8Array>, controller: AbortController): Promise<void> {
  const timer = setTimeout(() => controller.abort(), DRAIN_MS);
  try {
    while (!(await reader.read()).done);
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
