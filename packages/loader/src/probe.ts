// Tests what a server can do: a loop that carries out the steps of the core's probe, with the same code that sends chats.

import type { Card, ChatRequest, Core, Endpoint, Message, ProbeAnswer, ProbeEvent, Settings } from "./core.js";
import { exchange, get, type Server } from "./http.js";
import type { Requests } from "./requests.js";

const STEP_TIMEOUT_MS = 60_000;

interface ConnectionTest {
  readonly connection: Server & { readonly endpoint: Endpoint };
  readonly core: Core;
  readonly requests: Requests;
  /** What the user has set applies here too. */
  readonly settings: Settings;
  /** The address of a proxy, or nothing. */
  readonly proxy: string;
  /** Returns messages in the user's language. */
  readonly localized: (messages: readonly Message[]) => string;
  readonly cancellation: AbortSignal;
  /** Called before each step, and again if a step takes longer. */
  readonly onProgress: (message: string) => void;
}

/** Returns what was found out, or undefined if the user has cancelled. */
export async function testConnection(test: ConnectionTest): Promise<Card | undefined> {
  const { connection, requests, settings, proxy, localized, cancellation } = test;
  const { baseUrl, origin } = connection.endpoint;
  const probe = requests.probe({
    baseUrl,
    settings: settings.models,
    hasKey: (await connection.bearerFor(origin)) !== undefined,
    // A proxy's address may contain a password.
    ...(proxy === "" ? {} : { proxy: proxy.replace(/\/\/.*@/, "//") }),
  });
  test.onProgress(localized([requests.announceProbe()]));
  for (;;) {
    const { step } = probe;
    if (step.type === "done") {
      return step;
    }
    if (cancellation.aborted) {
      return undefined;
    }
    test.onProgress(localized([step.label]));
    if (step.type === "ask") {
      probe.handle({ answered: await answer(test, step.chat, step.stopsEarly) });
    } else {
      const response = await get(requests, connection, step.request, { withKey: step.withKey, cancellation });
      const event: ProbeEvent =
        "transport" in response ? { unreachable: [response.transport, response.code ?? null] } : { received: response };
      probe.handle(event);
    }
  }
}

async function answer(test: ConnectionTest, chat: ChatRequest, stopsEarly: boolean): Promise<ProbeAnswer> {
  const { connection, requests, settings, localized, cancellation } = test;
  const { baseUrl, origin } = connection.endpoint;
  const stop = new AbortController();
  let parts = 0;
  let isThinkingShown = false;
  const started = Date.now();
  // A setting applies here too, unless this request is about it.
  const options = { ...settings.chat, extraHeaders: settings.headers[origin] ?? {}, ...chat.options };
  const { report, ledgerEntry } = await exchange(test.core, requests, {
    server: connection,
    prepared: requests.buildRequest(new TextEncoder().encode(JSON.stringify({ ...chat, options })), baseUrl),
    idleTimeoutMs: STEP_TIMEOUT_MS,
    trace: false,
    cancellation: AbortSignal.any([cancellation, stop.signal]),
    onOutput: (output) => {
      // An empty part only carries what the next request sends back.
      if (output.type === "note" || (output.type === "thinking" && output.value === "")) {
        return;
      }
      parts += 1;
      isThinkingShown ||= output.type === "thinking";
      if (stopsEarly) {
        stop.abort();
      }
    },
    onRetry: ({ text }) => test.onProgress(localized(text)),
  });
  const { outcome, refused, reasoningRefused, elsewhere } = report;
  const { error } = outcome;
  return {
    status: outcome.status,
    entry: JSON.parse(ledgerEntry ?? "{}"),
    ...(error === null
      ? {}
      : {
          failure: {
            kind: error.kind,
            message: error.message,
            text: localized(error.text),
            ...(error.status === null ? {} : { status: error.status }),
          },
        }),
    parts,
    isThinkingShown,
    refused,
    isReasoningRefused: reasoningRefused,
    ...(elsewhere === null ? {} : { elsewhere: elsewhere.baseUrl }),
    milliseconds: Date.now() - started,
  };
}
