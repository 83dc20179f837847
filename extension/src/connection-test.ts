// Tests everything that a chat needs, step by step, so that the first step that fails names the cause.

import * as vscode from "vscode";

import type { ChatRequest, Core, HttpRequest, HttpResponse, Report } from "../../packages/loader/src/core.js";
import type { Requests } from "../../packages/loader/src/requests.js";
import type { Connection } from "./connections.js";
import { exchange, get } from "./http.js";
import { localized, noteText } from "./messages.js";
import { chatOptions, modelSettings } from "./settings.js";

const STEP_TIMEOUT_MS = 30_000;
/** Some providers refuse a smaller number. */
const FEW_TOKENS = 16;

export interface Step {
  readonly name: string;
  /** A skipped step proves nothing. */
  readonly result: "ok" | "failed" | "skipped";
  readonly detail: string;
  readonly ms: number;
}

interface ConnectionTest {
  readonly connection: Connection;
  readonly core: Core;
  readonly requests: Requests;
  readonly cancellation: AbortSignal;
  /** Called before each step, and again if a step takes longer. */
  readonly onProgress: (message: string) => void;
}

/** Stops at the first step that fails. */
export async function testConnection(test: ConnectionTest): Promise<Step[]> {
  const steps: Step[] = [];
  let listed: HttpResponse | undefined;
  let model: string | undefined;

  const { baseUrl } = test.connection.endpoint;
  const { listRequest, creditsRequest } = test.requests.catalog({ baseUrl, snapshot: undefined, settings: {} });
  const all: [name: string, run: () => Promise<Omit<Step, "name" | "ms">>][] = [
    [vscode.l10n.t("Address"), async () => ok(baseUrl)],
    [
      vscode.l10n.t("Network"),
      async () => {
        const answer = await ask(test, listRequest, false);
        if ("failure" in answer) {
          return failed(answer.failure);
        }
        listed = answer;
        return ok(vscode.l10n.t("{0} answers.", test.connection.endpoint.origin));
      },
    ],
    [
      vscode.l10n.t("Models"),
      async () => {
        let answer = listed!;
        if (answer.status === 401 || answer.status === 403) {
          // This server lists its models only for valid keys.
          const again = await ask(test, listRequest, true);
          if ("failure" in again) {
            return failed(again.failure);
          }
          answer = again;
        }
        if (answer.status !== 200) {
          return failed(localized(test.requests.explainResponse(answer)));
        }
        const { models, notes } = test.requests.catalog({
          baseUrl,
          snapshot: undefined,
          settings: modelSettings(),
          event: { listReceived: answer },
        });
        model = (models.find(({ isDefault }) => isDefault) ?? models[0])?.id;
        return model === undefined
          ? failed([vscode.l10n.t("The server lists no model that can chat."), ...notes.map(noteText)].join(" "))
          : ok(vscode.l10n.t("{0} models can chat.", models.length));
      },
    ],
    [
      vscode.l10n.t("Key"),
      async () => {
        if (test.connection.isDemo) {
          return skipped(vscode.l10n.t("The demo needs no key."));
        }
        const answer = await ask(test, creditsRequest, true);
        if ("failure" in answer) {
          return failed(answer.failure);
        }
        const { state, text } = test.requests.checkKey(answer);
        return KEY_RESULTS[state](localized(text));
      },
    ],
    [
      vscode.l10n.t("Answer"),
      async () => {
        const started = Date.now();
        const { ending, outcome, usage } = await fewTokens(test, model!);
        if (ending.type === "cancelled") {
          return skipped(vscode.l10n.t("Cancelled."));
        }
        // The request asked for a few tokens only, so being cut off is expected.
        if (ending.type === "rejected" && !(ending.kind === null && outcome.status === "incomplete")) {
          return failed(`${model!}: ${localized(ending.text)}`);
        }
        const tokens =
          usage === null
            ? vscode.l10n.t("The server reported no token counts.")
            : vscode.l10n.t("{0} tokens in, {1} out.", usage.prompt_tokens, usage.completion_tokens);
        return ok(`${vscode.l10n.t("{0} answered in {1} s.", model!, ((Date.now() - started) / 1000).toFixed(1))} ${tokens}`);
      },
    ],
  ];

  for (const [name, run] of all) {
    if (test.cancellation.aborted) {
      break;
    }
    test.onProgress(name);
    const started = Date.now();
    const step = await run().catch((error: unknown) => failed(error instanceof Error ? error.message : String(error)));
    steps.push({ name, ...step, ms: Date.now() - started });
    if (step.result === "failed") {
      break;
    }
  }
  return steps;
}

const ok = (detail: string) => ({ result: "ok" as const, detail });
const failed = (detail: string) => ({ result: "failed" as const, detail });
const skipped = (detail: string) => ({ result: "skipped" as const, detail });

const KEY_RESULTS = { accepted: ok, refused: failed, unknown: skipped };

async function ask(test: ConnectionTest, request: HttpRequest, withKey: boolean): Promise<HttpResponse | { failure: string }> {
  const { connection, cancellation } = test;
  const answer = await get(connection, request, { withKey, cancellation });
  if (!("transport" in answer)) {
    return answer;
  }
  const { transport, cause } = answer;
  const code = transport === "connect" ? codeOf(cause) : undefined;
  return { failure: localized(test.requests.explainTransport(connection.endpoint.origin, transport, code)) };
}

async function fewTokens({ connection, core, requests, cancellation, onProgress }: ConnectionTest, model: string): Promise<Report> {
  const chat: ChatRequest = {
    model,
    messages: [{ role: "user", content: [{ type: "text", value: "Say yes." }] }],
    options: { ...chatOptions(requests, connection.endpoint.origin), maxOutputTokens: FEW_TOKENS },
  };
  const prepared = requests.buildRequest(JSON.stringify(chat), connection.endpoint.baseUrl);
  const { report } = await exchange(core, requests, {
    connection,
    prepared,
    idleTimeoutMs: STEP_TIMEOUT_MS,
    trace: false,
    cancellation,
    onOutput: () => undefined,
    onRetry: ({ text }) => onProgress(localized(text)),
  });
  return report;
}

/** Node puts the code of an error into its cause, Electron into the message. */
function codeOf(error: unknown): string | undefined {
  const { message, cause } = (error ?? {}) as { message?: unknown; cause?: { code?: unknown } };
  return typeof cause?.code === "string" ? cause.code : /net::(ERR_\w+)/.exec(String(message))?.[1];
}
