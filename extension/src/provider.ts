// The language model provider: lists models, answers requests and counts tokens.

import * as vscode from "vscode";

import type { ListedModel, Note, RoundEvent, RoundView, Settings } from "../../packages/loader/src/core.js";
import { type Answered, exchange } from "../../packages/loader/src/http.js";
import type { Modules } from "../../packages/loader/src/modules.js";
import type { Requests } from "../../packages/loader/src/requests.js";
import type { Connection, Connections } from "./connections.js";
import type { Dialogs } from "./dialogs.js";
import { Reporter } from "./from-core.js";
import type { Log } from "./log.js";
import { localized, noteText } from "./messages.js";
import { information, type SluiceModel } from "./model-information.js";
import type { ModelLists } from "./models.js";
import { answerError, KnownError, plainError, type StatusBar, showWarning } from "./notify.js";
import type { PickerChoices } from "./picker-choices.js";
import type { Recorder } from "./recorder.js";
import { isIncremental, readSettings } from "./settings.js";
import { toChatRequest, toMessage } from "./to-core.js";
import type { TokenCounts } from "./tokens.js";
import type { VaultFiles } from "./vault-files.js";

export interface Services {
  readonly dialogs: Dialogs;
  readonly modules: Modules;
  readonly connections: Connections;
  readonly lists: ModelLists;
  readonly log: Log;
  readonly counts: TokenCounts;
  readonly vault: VaultFiles;
  readonly recorder: Recorder;
  readonly status: StatusBar;
  readonly choices: PickerChoices;
  readonly images: vscode.Uri;
}

/** The models of a connection. */
type Listed = readonly [Connection, readonly ListedModel[]];

const GROUPS_COME_WITHIN_MS = 1_000;
const LISTS_COME_WITHIN_MS = 10_000;

export class Provider implements vscode.LanguageModelChatProvider<SluiceModel> {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeLanguageModelChatInformation = this.#changed.event;
  /** What the user, or the log, was told. */
  readonly #told = new Set<string>();
  /** Keyed by base URL: where the API really is. */
  readonly #elsewhere = new Map<string, string>();
  /** The models that VS Code got in the current round, except the demo. */
  listed: readonly SluiceModel[] = [];
  /** VS Code's ids of the models that belong to no group in Manage Models. */
  #ungrouped = new Set<string>();

  constructor(private readonly services: Services) {
    services.lists.onDidChange(() => this.#changed.fire());
  }

  /** The models may have changed: the user signed in or out, or changed a setting. */
  refresh(): void {
    this.#changed.fire();
  }

  /** VS Code asks once without a configuration and once for each group that the user set up, and does so often. */
  async provideLanguageModelChatInformation(
    { configuration }: vscode.PrepareLanguageModelChatModelOptions,
    _token: vscode.CancellationToken,
  ): Promise<SluiceModel[]> {
    const { connections, modules } = this.services;
    const requests = await modules.requests();
    if (configuration !== undefined) {
      const connection = await connections.configured(configuration);
      return connection === undefined ? [] : this.#shown(requests, [[connection, await this.#models(connection)]], true).shown;
    }
    this.#round(requests, "began");
    this.listed = [];
    const own = await connections.own((problem) => this.#tell(problem));
    const list = async (connection: Connection): Promise<Listed> => [
      connection,
      await this.#models(connection).catch((problem: unknown) => this.#tell(problem, connection.label)),
    ];
    const { shown, view } = this.#shown(requests, await Promise.all(own.map(list)), false);
    this.#ungrouped = new Set(shown.map(({ id }) => id));
    if (view.demo === null) {
      return shown;
    }
    const demo = await connections.demo();
    const model = (await this.#models(demo)).find(({ id }) => id === view.demo);
    return [...shown, ...(model === undefined ? [] : [{ ...information(model, demo), isUserSelectable: view.isDemoOffered }])];
  }

  /** Adds the models of connections to the current round. */
  #shown(requests: Requests, lists: readonly Listed[], isGroup: boolean): { shown: SluiceModel[]; view: RoundView } {
    const listed = lists.map(([{ label }, models]) => ({
      label,
      models: models.map(({ id, name, isDefault }) => ({ id, name, isDefault })),
    }));
    const view = this.#round(requests, isGroup ? { group: listed[0]! } : { ungrouped: listed });
    const names = view.names.values();
    const shown = lists.flatMap(([connection, models]) => models.map((model) => information(model, connection, names.next().value)));
    this.listed = [...this.listed, ...shown];
    return { shown, view };
  }

  #round(requests: Requests, event: RoundEvent): RoundView {
    const view = requests.round(event);
    view.dialogs.forEach(([name, dialog]) => void this.services.dialogs.once(name, dialog));
    if (view.mustRepeat) {
      this.#changed.fire();
    }
    if (view.awaitsGroups) {
      setTimeout(() => this.#round(requests, "groupsDue"), GROUPS_COME_WITHIN_MS);
    }
    return view;
  }

  /** VS Code has no place for problems with keys that it doesn't know about. */
  #tell(problem: unknown, label?: string): [] {
    const text = [label, problem instanceof Error ? problem.message : String(problem)].filter(Boolean).join(": ");
    if (!(problem instanceof KnownError)) {
      this.#once(text, () => this.services.dialogs.run({ connectionProblem: text }));
    }
    return [];
  }

  /**
   * Throws the reason if a server lists no models. VS Code shows it in place of the models. It waits for one server after the other,
   * so one that doesn't answer must not keep the others from the picker.
   */
  async #models(connection: Connection): Promise<readonly ListedModel[]> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const slow = new Promise<never>((_, reject) => {
      const text = vscode.l10n.t("{0} has not answered yet. Its models appear as soon as it does.", connection.label);
      timer = setTimeout(() => reject(plainError(text)), LISTS_COME_WITHIN_MS);
    });
    const list = this.services.lists.list(connection);
    // The change is announced when it arrives.
    list.catch((error: unknown) => this.services.log.failure("debug", `Models of ${connection.endpoint.origin}`, error));
    const { models, problem } = await Promise.race([list, slow]).finally(() => clearTimeout(timer));
    if (problem !== null) {
      throw plainError(localized(problem));
    }
    return models;
  }

  async provideLanguageModelChatResponse(
    { id, model, connection }: SluiceModel,
    messages: readonly vscode.LanguageModelChatRequestMessage[],
    options: vscode.ProvideLanguageModelChatResponseOptions,
    progress: vscode.Progress<vscode.LanguageModelResponsePart>,
    token: vscode.CancellationToken,
  ): Promise<void> {
    const { modules, log, counts, vault, recorder, status, lists, choices } = this.services;
    const choose = this.#ungrouped.has(id) ? choices.for(id) : {};
    const [core, requests, chosen] = await Promise.all([modules.core(), vault.open(), choose]);
    const [reader, pace] = requests.reader(options.requestInitiator, isIncremental());
    const isChat = reader !== "program";
    // The agent host passes on what its own user chose.
    const asked = { ...options, modelConfiguration: { ...options.modelConfiguration, ...(reader !== "agentHost" && chosen) } };
    const { chat, headers, idleTimeoutMs, thinkingFallback } = readSettings(requests, log);
    const extraHeaders = this.#headersFor(connection.endpoint.origin, headers);
    const chatJson = new TextEncoder().encode(JSON.stringify(toChatRequest(model, messages, asked, { ...chat, extraHeaders })));
    const { baseUrl } = connection.endpoint;
    const prepared = requests.buildRequest(chatJson, this.#elsewhere.get(baseUrl) ?? baseUrl, model.refused);
    log.debug(prepared.description);
    prepared.notes.forEach((note) => this.#note("request", note));

    const reporter = new Reporter(progress, {
      thinkingFallback,
      ...(isChat ? { saveImage: (mimeType, bytes) => this.#saveImage(mimeType, bytes) } : {}),
      onProblem: (what, error) => log.failure("warn", `${log.modelName(model.id)}: ${what}`, error),
    });
    const cancellation = new AbortController();
    const subscription = token.onCancellationRequested(() => {
      reporter.abandon();
      cancellation.abort();
    });
    if (token.isCancellationRequested) {
      cancellation.abort();
    }
    const ledger = counts.begin(prepared, model, connection.endpoint.origin);
    let answered: Answered | undefined;
    let hasCalls = false;
    try {
      await ledger.permit();
      answered = await exchange(core, requests, {
        tape: recorder.begin(ledger.id, prepared),
        server: connection,
        prepared,
        idleTimeoutMs,
        pace,
        trace: log.isTracing,
        cancellation: cancellation.signal,
        onOutput: (output) => {
          if (output.type === "note") {
            this.#note(model.id, output);
          } else {
            hasCalls ||= output.type === "toolCall";
            reporter.report(output);
          }
        },
        onRetry: (failure, delayMs) => {
          log.outcome(model.id, { status: "failed", reason: null, error: failure, empty: null, usage: null }, failure.message, delayMs);
          status.retrying(localized(failure.text.slice(0, -1)), delayMs);
        },
      });
    } finally {
      subscription.dispose();
      // Whatever happened, the status bar must not continue to say that a request is running.
      ledger.end(answered?.ledgerEntry).catch((error: unknown) => log.failure("error", "Usage could not be recorded", error));
    }
    const { ending, usage, outcome, reasoningRefused, elsewhere, refused, overflow } = answered.report;
    if (elsewhere !== null && !this.#elsewhere.has(baseUrl)) {
      this.#elsewhere.set(baseUrl, elsewhere.baseUrl);
      void showWarning(`Sluice: ${localized([elsewhere.message])}`);
    }
    if (ending.type === "done" && !connection.isDemo) {
      lists
        .work(connection, { enrich: { model: model.id } })
        .catch((error: unknown) => log.failure("debug", log.modelName(model.id), error));
    }
    const { ledgerEntry } = answered;
    if (ledgerEntry !== undefined && requests.remember(ledgerEntry, prepared.question, reasoningRefused ? prepared.chat : undefined)) {
      vault.changed(!hasCalls);
    }
    await lists.work(connection, { learn: { model: model.id, refused, overflow } });
    if (ending.type === "cancelled") {
      throw new vscode.CancellationError();
    }
    const rejected = ending.type === "rejected" ? requests.showRejection(reader, ending) : undefined;
    // Counts and text from before an error stay valid. A marker must not be reported, because the agent host would
    // consider it a response that the server can continue from.
    if (rejected?.type === "note") {
      reporter.note(rejected.markdown);
    }
    await reporter.end(usage, reader === "agentHost" ? null : prepared.marker);
    log.outcome(model.id, outcome, ending.type === "rejected" ? ending.message : undefined);
    if (rejected?.type !== "error") {
      return;
    }
    // VS Code discards parts that haven't been read when the error arrives.
    await reporter.settled();
    if (rejected.refusal !== null) {
      await lists.work(connection, { keyRefused: { reason: rejected.refusal } });
    }
    throw answerError(rejected);
  }

  async provideTokenCount(
    { model, connection }: SluiceModel,
    text: string | vscode.LanguageModelChatRequestMessage,
    _token: vscode.CancellationToken,
  ): Promise<number> {
    return this.services.counts.count(model, connection.endpoint.origin, typeof text === "string" ? text : toMessage(text));
  }

  /** Returns the extra headers for a server. */
  #headersFor(origin: string, all: Settings["headers"]): { [name: string]: string } {
    if (Object.keys(all).length > 0 && all[origin] === undefined) {
      const { log } = this.services;
      this.#once(origin, () =>
        log.info(`No header in sluice.extraHeaders is for ${origin}, so none is sent there. The setting says how to name an address.`),
      );
    }
    return all[origin] ?? {};
  }

  /** Logs a note. A message says what was left out of requests. */
  #note(about: string, note: Note): void {
    this.services.log.trace(`${about}: ${note.kind} ${note.detail}`);
    if (note.kind === "leftOut" && note.text !== undefined) {
      this.#once(note.detail, () => showWarning(`Sluice: ${noteText(note)}`));
    }
  }

  /** Tells the user something once in each window. */
  #once(what: string, tell: () => unknown): void {
    if (!this.#told.has(what)) {
      this.#told.add(what);
      void tell();
    }
  }

  async #saveImage(mimeType: string, bytes: Uint8Array): Promise<vscode.Uri> {
    const extension = mimeType.split("/")[1]?.replace(/[^a-z0-9]/g, "") ?? "bin";
    const file = vscode.Uri.joinPath(this.services.images, `${crypto.randomUUID()}.${extension}`);
    await vscode.workspace.fs.writeFile(file, bytes);
    return file;
  }
}
