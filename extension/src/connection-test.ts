// Tests everything that a chat needs, step by step, so that the first step that fails names the cause.

import * as vscode from "vscode";

import type { ChatRequest, Core, HttpRequest, HttpResponse } from "../../packages/loader/src/core.js";
import { exchange, get } from "../../packages/loader/src/http.js";
import type { Requests } from "../../packages/loader/src/requests.js";
import type { Connection } from "./connections.js";
import type { Log } from "./log.js";
import { localized, noteText } from "./messages.js";
import { readSettings } from "./settings.js";

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
  readonly log: Log;
  readonly cancellation: AbortSignal;
  /** Called before each step, and again if a step takes longer. */
  readonly onProgress: (message: string) => void;
}

/** What a step found out. If it fails, it throws an error with the reason. */
type Found<T> = Pick<Step, "detail"> & { readonly isSkipped?: boolean } & T;

/** Stops at the first step that fails. */
export async function testConnection(test: ConnectionTest): Promise<Step[]> {
  const { connection, requests, cancellation } = test;
  const { baseUrl, origin } = connection.endpoint;
  const steps: Step[] = [];
  const step = async <T extends object>(name: string, run: () => Promise<Found<T>>): Promise<T> => {
    cancellation.throwIfAborted();
    test.onProgress(name);
    const started = Date.now();
    const add = (result: Step["result"], detail: string) => steps.push({ name, result, detail, ms: Date.now() - started });
    try {
      const found = await run();
      add(found.isSkipped ? "skipped" : "ok", found.detail);
      return found;
    } catch (error) {
      add("failed", error instanceof Error ? error.message : String(error));
      throw error;
    }
  };
  const ask = async (request: HttpRequest, withKey: boolean): Promise<HttpResponse> => {
    const answer = await get(requests, connection, request, { withKey, cancellation });
    if ("transport" in answer) {
      throw new Error(localized(requests.explainTransport(origin, answer.transport, answer.code)));
    }
    return answer;
  };

  try {
    await step(vscode.l10n.t("Address"), async () => ({ detail: baseUrl }));
    const { listRequest, creditsRequest } = requests.catalog({ baseUrl, settings: {} });
    const { first } = await step(vscode.l10n.t("Network"), async () => ({
      first: await ask(listRequest, false),
      detail: vscode.l10n.t("{0} answers.", origin),
    }));
    const { model } = await step(vscode.l10n.t("Models"), async () => {
      // Some servers list their models only for valid keys.
      const answer = first.status === 401 || first.status === 403 ? await ask(listRequest, true) : first;
      if (answer.status !== 200) {
        throw new Error(localized(requests.explainResponse(answer)));
      }
      const { models, notes } = requests.catalog({
        baseUrl,
        settings: readSettings(requests, test.log).models,
        event: { listReceived: answer },
      });
      const model = models.find(({ isDefault }) => isDefault) ?? models[0];
      if (model === undefined) {
        throw new Error([vscode.l10n.t("The server lists no model that can chat."), ...notes.map(noteText)].join(" "));
      }
      return { model: model.id, detail: vscode.l10n.t("{0} models can chat.", models.length) };
    });
    await step(vscode.l10n.t("Key"), async () => {
      const { state, text } = requests.checkKey(await ask(creditsRequest, true));
      if (state === "refused") {
        throw new Error(localized(text));
      }
      return { isSkipped: state === "unknown", detail: localized(text) };
    });
    await step(vscode.l10n.t("Answer"), () => fewTokens(test, model));
  } catch {
    // The last step says what is wrong, or the user has cancelled.
  }
  return steps;
}

async function fewTokens(test: ConnectionTest, model: string): Promise<Found<object>> {
  const { connection, requests, cancellation } = test;
  const { baseUrl, origin } = connection.endpoint;
  const settings = readSettings(requests, test.log);
  const chat: ChatRequest = {
    model,
    messages: [{ role: "user", content: [{ type: "text", value: "Say yes." }] }],
    options: { ...settings.chat, extraHeaders: settings.headers[origin] ?? {}, maxOutputTokens: FEW_TOKENS },
  };
  const started = Date.now();
  const { report } = await exchange(test.core, requests, {
    server: connection,
    prepared: requests.buildRequest(JSON.stringify(chat), baseUrl),
    idleTimeoutMs: STEP_TIMEOUT_MS,
    trace: false,
    cancellation,
    onOutput: () => undefined,
    onRetry: ({ text }) => test.onProgress(localized(text)),
  });
  const { ending, outcome, usage } = report;
  if (ending.type === "cancelled") {
    return { isSkipped: true, detail: vscode.l10n.t("Cancelled.") };
  }
  // The request asked for a few tokens only, so being cut off is expected.
  if (ending.type === "rejected" && !(ending.kind === null && outcome.status === "incomplete")) {
    throw new Error(`${model}: ${localized(ending.text)}`);
  }
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  const tokens =
    usage === null
      ? vscode.l10n.t("The server reported no token counts.")
      : vscode.l10n.t("{0} tokens in, {1} out.", usage.prompt_tokens, usage.completion_tokens);
  return { detail: `${vscode.l10n.t("{0} answered in {1} s.", model, seconds)} ${tokens}` };
}
