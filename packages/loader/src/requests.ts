// The loader of the requests module (crates/sluice-requests-wasm): where requests go, what is sent, which models there are.

import type {
  BodyRule,
  ChatMessage,
  ConnectionTest,
  Dialog,
  DialogStep,
  Ending,
  Endpoint,
  Language,
  LogLevel,
  Message,
  Pace,
  Parameter,
  PreparedRequest,
  ProbeEvent,
  ProbeOptions,
  ProbeStep,
  Reader,
  ReportFacts,
  RequestsQuestion,
  RequestsTask,
  RoundEvent,
  RoundView,
  Settings,
  ShownRejection,
  SpendChoice,
  StatusBarFacts,
  StatusBarView,
  Transport,
  VaultTask,
  VercelSession,
} from "./boundary.js";
import { compile, Instance, QuestionError } from "./module.js";
import { ANSWER } from "./numbers.js";
import { runWork, type Shell, type WorkExports } from "./work.js";

interface RequestsExports extends WorkExports {
  ask(length: number): void;
  build_request(length: number): void;
  link_free(length: number): void;
}

/** What is asked by the question with this name. */
type QuestionOf<Name extends string> = Extract<RequestsQuestion, { [name in Name]: unknown }>[Name];

/** A request that is ready to be sent. The field `body` of its `request` is empty. */
export interface Prepared extends PreparedRequest {
  readonly body: Uint8Array<ArrayBuffer>;
  /** The chat as JSON, with what the vault added or removed. This is what is sent and counted. */
  readonly chat: Uint8Array;
}

const decoder = new TextDecoder();

/** WebAssembly never releases memory, so an instance that one long conversation has enlarged is dropped. */
const MAX_MEMORY = 64 << 20;

/** Much more text than any part of VS Code shows at once. */
const MAX_SHOWN = 4_000;

/** Seconds since 1970. */
const now = (): number => Math.floor(Date.now() / 1000);

export async function loadRequests(wasm: BufferSource | WebAssembly.Module): Promise<Requests> {
  return new Requests(await compile(wasm));
}

/** Answers questions. If the core crashes on one, it is lost, and the next one gets a new instance. */
export class Requests {
  readonly #module: WebAssembly.Module;
  #instance: Instance<RequestsExports> | undefined;
  #connections: Instance<RequestsExports> | undefined;
  /** How many tasks are working on files. */
  #tasks = 0;
  /** The vault as it was last read or written, for the next instance. */
  #vault: string | undefined;
  #language: Language | undefined;

  constructor(module: WebAssembly.Module) {
    this.#module = module;
  }

  /** Sets the language of everything that is ready to be shown. It is English until then. */
  setLanguage(language: Language): void {
    this.#language = language;
    this.#ask({ setLanguage: language });
  }

  /** Checks a base URL. If nothing may be sent there, the message says why. */
  parseEndpoint(address: string): Endpoint | Message {
    return this.#ask({ parseEndpoint: address });
  }

  /** Something happened while an editor asks for models. Returns what it does about that. */
  round(event: RoundEvent): RoundView {
    return this.#instanceOfConnections().ask(JSON.stringify({ round: event } satisfies RequestsQuestion), ask);
  }

  /** Turns a chat, which is the JSON of a `ChatRequest`, into a request without the key, and without some parameters. */
  buildRequest(chat: Uint8Array, baseUrl: string, without: Parameter[] = []): Prepared {
    const instance = this.#current();
    const rest = JSON.stringify({ baseUrl, without, nowMs: Date.now() });
    instance.run((exports) => exports.build_request(instance.writeAll(['{"chat":', chat, `,${rest.slice(1)}`])));
    const [answer, body = new Uint8Array(), restored = chat] = instance.rowsOfBytes();
    const text = decoder.decode(answer);
    if (instance.kind(0) !== ANSWER) {
      throw new QuestionError(text);
    }
    return { ...(JSON.parse(text) as PreparedRequest), body, chat: restored };
  }

  /** Works on the files of the vault, which contains what servers need back of earlier answers. */
  async work(task: VaultTask, folder: Shell): Promise<void> {
    const instance = this.#current();
    this.#tasks += 1;
    try {
      await runWork(instance, { vault: task } satisfies RequestsTask, folder);
    } finally {
      this.#tasks -= 1;
    }
    this.#vault = instance.ask<string>(SAVE_VAULT, ask);
  }

  /**
   * Keeps what the server needs back of an answer, whose ledger entry this is. If the server refused the reasoning in
   * the chat, that isn't sent again. Returns whether there is anything to save.
   */
  remember(ledgerEntry: string, question: PreparedRequest["question"], refusedChat?: Uint8Array): boolean {
    const refused = refusedChat === undefined ? "" : `,"refused":${decoder.decode(refusedChat)}`;
    return this.#askJson(`{"remember":{"entry":${ledgerEntry},"question":${JSON.stringify(question)},"nowMs":${Date.now()}${refused}}}`);
  }

  /** Deletes everything in the vault, and later in every file that is added to it. */
  clearVault(): void {
    this.#ask({ clearVault: { nowMs: Date.now() } });
    this.#vault = this.#askJson(SAVE_VAULT);
  }

  /** Returns the body of a request without some parameters. */
  leaveOut(body: Uint8Array, parameters: Parameter[]): string {
    return this.#ask({ leaveOut: { body: decoder.decode(body), parameters } });
  }

  /** Decides how to read a response that isn't an answer, or says why it isn't read. */
  bodyRule(status: number): BodyRule | Transport {
    return this.#ask({ bodyRule: { status } });
  }

  /** Carries out a task. A recording may be large, so it gets an instance that is dropped afterwards. */
  run<T>(task: Exclude<RequestsTask, { vault: unknown }>, shell: Shell): Promise<T> {
    if ("recordings" in task) {
      return runWork(new Instance<RequestsExports>(this.#module), task, shell);
    }
    return runWork(this.#instanceOfConnections(), task, shell);
  }

  /** Estimates tokens without a vocabulary: immediately, and some per cent too high. */
  estimateTokens(model: string, what: string | ChatMessage): number {
    return this.#ask(typeof what === "string" ? { estimateText: { model, text: what } } : { estimateMessage: { model, message: what } });
  }

  /** Reads what VS Code has under `sluice`. The environment has the variables that extra headers name. */
  readSettings(values: object, environment: { [name: string]: string }): Settings {
    return this.#ask({ readSettings: { values, environment } });
  }

  /** Returns what a stored sign-in allows, or null if it can't be read. */
  vercelSession(stored: string, now: number): VercelSession | null {
    return this.#ask({ vercelSession: { stored, now } });
  }

  /** Starts a test of a server. */
  probe(options: Omit<ProbeOptions, "now">): Probe {
    return new Probe(this.#module, options);
  }

  /**
   * Has a dialog with the user. `perform` carries out its steps and returns their answers. A dialog has an instance of its own,
   * because it takes as long as the user does. Returns what the user decided about a limit.
   */
  async dialog(dialog: Dialog, perform: (step: DialogStep) => Promise<unknown>): Promise<SpendChoice | null> {
    const instance = new Instance<RequestsExports>(this.#module);
    const next = (question: RequestsQuestion): DialogStep => instance.ask(JSON.stringify(question), ask);
    let step = next({ startDialog: dialog });
    while (step.type !== "done") {
      step = next({ continueDialog: (await perform(step)) ?? null });
    }
    return step.choice;
  }

  /** Returns what a test sends at most. */
  announceProbe(): Message {
    return this.#ask({ announceProbe: {} });
  }

  /** Returns what a test found as a page for a webview, and for a notification and a bug report. */
  showCard(question: Omit<QuestionOf<"showCard">, "secrets">, secrets: Iterable<string>): [html: string, test: ConnectionTest] {
    return this.#ask({ showCard: { ...question, secrets: [...secrets] } });
  }

  /** Returns who reads an answer, whom VS Code calls `initiator`, and when they get its text. */
  reader(initiator: string | undefined, isIncremental: boolean): [Reader, Pace] {
    return this.#ask({ reader: { initiator: initiator ?? "", isIncremental } });
  }

  /** Returns what is shown of an answer that was rejected. */
  showRejection(reader: Reader, { text, kind, isNote, page }: Extract<Ending, { type: "rejected" }>): ShownRejection {
    return this.#ask({ showRejection: { reader, text, kind, isNote, page } });
  }

  /** Returns what the status bar shows. */
  showStatus(facts: StatusBarFacts): StatusBarView {
    return this.#ask({ showStatus: facts });
  }

  /** Returns a report for a bug as JSON, without anything private. */
  report(facts: ReportFacts): string {
    return this.#ask({ report: facts });
  }

  /** Returns a JSON schema that completes these ids of models in the user's settings. */
  settingsSchema(ids: string[]): object {
    return this.#ask({ settingsSchema: ids });
  }

  /** Returns a line for a log about how a request ended, without a word that a server chose, and one that quotes the server. */
  logOutcome(question: QuestionOf<"logOutcome">): [level: LogLevel, line: string, quote: string | null] {
    return this.#ask({ logOutcome: question });
  }

  /** Returns a model's id for a log, or other words if it isn't a plain id. */
  loggedModel(id: string): string {
    return this.#ask({ loggedModel: id });
  }

  /** Returns one line that looks the same but in which VS Code finds nothing to click on. */
  linkFree(text: string): string {
    const instance = this.#current();
    // Text that can't be shown isn't processed, so that a server can't decide how long this takes.
    instance.run((exports) => exports.link_free(instance.writeText(text.slice(0, MAX_SHOWN))));
    return instance.text();
  }

  /** Masks secrets, like `mask`, and also long random words and the user's name in paths, in a line for a log, and shortens it. */
  redact(secrets: Iterable<string>, text: string): string {
    return this.#ask({ redact: { secrets: [...secrets], text } });
  }

  /**
   * Returns a copy of a JSON value (a text, a failure, an outcome, a note, an answer) with `[hidden]` in place of the given
   * secrets, however they are spelled, and of whatever looks like a key. The time is linear in the length. Secrets of fewer
   * than eight bytes are ignored.
   */
  mask<T>(secrets: Iterable<string>, value: T): T {
    return this.#ask({ mask: { secrets: [...secrets], value } });
  }

  #ask<T>(question: RequestsQuestion): T {
    return this.#askJson(JSON.stringify(question));
  }

  #askJson<T>(question: string): T {
    return this.#current().ask(question, ask);
  }

  #current(): Instance<RequestsExports> {
    let instance = this.#instance;
    const isTooLarge = instance !== undefined && instance.memoryBytes > MAX_MEMORY && this.#tasks === 0;
    if (instance === undefined || instance.crashed || isTooLarge) {
      this.#vault = instance?.crashed === false ? instance.ask<string>(SAVE_VAULT, ask) : this.#vault;
      this.#instance = instance = this.#newInstance();
      if (this.#vault !== undefined) {
        instance.ask(JSON.stringify({ openVault: { file: this.#vault, nowMs: Date.now() } }), ask);
      }
    }
    return instance;
  }

  /** Returns the instance that knows about connections. It is never dropped, because it doesn't become too large. */
  #instanceOfConnections(): Instance<RequestsExports> {
    if (this.#connections === undefined || this.#connections.crashed) {
      this.#connections = this.#newInstance();
    }
    return this.#connections;
  }

  #newInstance(): Instance<RequestsExports> {
    const instance = new Instance<RequestsExports>(this.#module);
    if (this.#language !== undefined) {
      instance.ask(JSON.stringify({ setLanguage: this.#language }), ask);
    }
    return instance;
  }
}

const SAVE_VAULT = JSON.stringify({ saveVault: {} });

function ask(exports: RequestsExports, length: number): void {
  exports.ask(length);
}

/** A test of a server, in an instance of its own, because it takes as long as the server does. */
export class Probe {
  readonly #instance: Instance<RequestsExports>;
  /** What to do next. */
  step: ProbeStep;

  constructor(module: WebAssembly.Module, options: Omit<ProbeOptions, "now">) {
    this.#instance = new Instance(module);
    this.step = this.#ask(JSON.stringify({ startProbe: { ...options, now: now() } }));
  }

  /** Something happened to the last request. */
  handle(event: ProbeEvent): void {
    this.step = this.#ask(JSON.stringify({ continueProbe: event }));
  }

  #ask(question: string): ProbeStep {
    return this.#instance.ask(question, (exports, length) => exports.ask(length));
  }
}
