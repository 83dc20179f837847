// Token counts and the ledger of what requests used. Counts come from the vocabularies once they are loaded, and from
// an estimate until then.

import type * as vscode from "vscode";

import type {
  ChatMessage,
  ChatModel,
  HistoryPeriod,
  HistoryRow,
  LedgerTask,
  LimitState,
  Message,
  RequestRecord,
  StatusLine,
} from "../../packages/loader/src/core.js";
import type { Modules } from "../../packages/loader/src/modules.js";
import type { Prepared } from "../../packages/loader/src/requests.js";
import type { Records, Tokens } from "../../packages/loader/src/tokens.js";
import { Folder, Saver } from "./folder.js";
import type { Log } from "./log.js";
import { localized } from "./messages.js";
import type { StatusBar } from "./notify.js";
import type { SpendGuard } from "./spend-guard.js";

/** Most requests have left after this time, and few servers have answered. */
const COUNT_AFTER_MS = 100;

export class TokenCounts {
  readonly #folder: Folder;
  #tokens: Tokens | undefined;
  #loading: Promise<Tokens> | undefined;
  readonly #saver: Saver;
  /** Resolves when all requests that have ended are in the ledger. The first one may have to wait for the module. */
  #recorded: Promise<unknown> = Promise.resolve();
  /** The models whose vocabulary has been looked for. */
  readonly #checked = new Set<string>();

  constructor(
    private readonly modules: Modules,
    folder: vscode.Uri,
    private readonly log: Log,
    private readonly status: StatusBar,
    private readonly guard: SpendGuard,
    private readonly onRecord: (record: RequestRecord) => void,
  ) {
    // Everything is still in memory, and it is tried again after the next answer.
    const failed = (error: unknown): void => log.failure("warn", "Token counts and usage could not be saved", error);
    this.#folder = new Folder(folder, failed);
    this.#saver = new Saver(async () => {
      await (this.#tokens && this.#work(this.#tokens, "save").catch(failed));
    });
  }

  /** VS Code asks thousands of times in a turn and waits each time, so nothing here waits once the module is loaded. */
  async count({ id }: ChatModel, origin: string, what: string | ChatMessage): Promise<number> {
    const tokens = this.#tokens;
    if (tokens === undefined) {
      this.#load().catch((error: unknown) => this.log.failure("error", "Tokens cannot be counted exactly", error));
      return (await this.modules.requests()).estimateTokens(id, what);
    }
    this.#loadVocabulary(tokens, id);
    return typeof what === "string" ? tokens.countText(id, origin, what) : tokens.countMessage(id, origin, what);
  }

  /** A request begins. It is counted when it has left, because counting would delay it. Returns the ledger of this request. */
  begin({ chat, conversationId, kind }: Prepared, model: ChatModel, origin: string) {
    const id = crypto.randomUUID();
    const started = Date.now();
    // Requests for titles and the like say nothing about the conversation.
    const show = (line: StatusLine | null): void => (kind === "utility" ? undefined : this.status.show(line));
    let count = (): void => undefined;
    const begun = new Promise<void>((resolve) => {
      count = resolve;
    }).then(async () => {
      const tokens = await this.#load();
      const { maxInputTokens, contextWindow, prices, refused } = model;
      const about = { origin, maxInputTokens, contextWindow, refused, ...(prices === null ? {} : { prices }) };
      const { status, warning } = tokens.begin(id, conversationId ?? id, chat, about, started);
      show(status);
      if (warning !== null) {
        this.log.warn(
          `${this.log.modelName(model.id)}: a request comes close to the limit of ${maxInputTokens} input tokens, or exceeds it.`,
        );
        this.log.trace(localized([warning.message]));
      }
      return tokens;
    });
    begun.catch((error: unknown) => this.log.failure("error", "Usage could not be recorded", error));
    setTimeout(count, COUNT_AFTER_MS);
    const end = async (entry: string | undefined): Promise<void> => {
      const ended = Date.now();
      count();
      const tokens = await begun.catch(() => undefined);
      const result = tokens?.end(id, entry, ended);
      show(result?.status ?? null);
      if (result != null) {
        this.onRecord(result.record);
      }
      this.#saver.soon();
    };
    return {
      id,
      /** Waits until the request may be sent. Throws if a limit forbids it. */
      permit: async (): Promise<void> => {
        if ((await this.guard.limits()) !== null) {
          count();
          const tokens = await begun;
          await this.guard.permit(id, tokens, (task) => this.#work(tokens, task));
        }
      },
      /** The request is over. `entry` is what the exchange says about it. */
      end: (entry: string | undefined): Promise<void> => {
        const recorded = end(entry);
        this.#recorded = Promise.allSettled([this.#recorded, recorded]);
        return recorded;
      },
    };
  }

  /** Returns the records of all windows, for the inspector. */
  async records(): Promise<Records> {
    const records = (await this.#load()).records();
    await this.#saver.settled();
    await this.#folder.inTurn((folder) => records.read(folder));
    return records;
  }

  /** Returns the usage of all windows on this machine, and how much of each limit it is. */
  async history(period: HistoryPeriod): Promise<{ rows: HistoryRow[]; limits: LimitState[] }> {
    const tokens = await this.#load();
    await this.#read(tokens, "reload");
    const limitStates = (await this.guard.limits()) ?? {};
    return { rows: tokens.history(period), limits: await this.#work(tokens, { limitStates }) };
  }

  /** Called before VS Code closes. */
  async dispose(): Promise<void> {
    await this.#recorded;
    await this.#saver.settled();
    await this.#folder.inTurn(async () => undefined);
  }

  /** Loads a vocabulary that isn't part of the module, once. Until it is there, texts are counted with another one. */
  #loadVocabulary(tokens: Tokens, model: string): void {
    if (this.#checked.has(model)) {
      return;
    }
    this.#checked.add(model);
    if (tokens.lacksVocabulary(model)) {
      this.modules.vocabulary().then(
        (file) => tokens.loadVocabulary(file),
        (error: unknown) => this.log.failure("error", "Tokens cannot be counted exactly", error),
      );
    }
  }

  #load(): Promise<Tokens> {
    const load = async (): Promise<Tokens> => {
      const tokens = await this.modules.tokens();
      await this.#read(tokens, "load");
      return (this.#tokens = tokens);
    };
    // Loading may succeed the next time.
    this.#loading ??= load().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  /** Reads what all windows have saved. */
  async #read(tokens: Tokens, task: "load" | "reload"): Promise<void> {
    const messages = await this.#work<Message["code"][]>(tokens, task);
    messages.forEach((code) => this.log.warn(localized([{ code, args: [] }])));
  }

  #work<T>(tokens: Tokens, task: LedgerTask): Promise<T> {
    return this.#folder.inTurn((folder) => tokens.work<T>(task, folder));
  }
}
