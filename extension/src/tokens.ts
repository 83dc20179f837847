// Token counts: by the vocabularies once they are loaded, by an estimate until then; with what servers counted for the same
// conversation. And the books of what was used, kept in one file for all windows.

import * as vscode from "vscode";

import type { ChatMessage, ChatModel, ChatRequest, Outcome, Part, StatusLine } from "../../packages/loader/src/core.js";
import type { BuiltRequest } from "../../packages/loader/src/requests.js";
import type { HistoryRow, Tokens } from "../../packages/loader/src/tokens.js";
import { type Log, modelName } from "./log.js";
import { localized } from "./messages.js";
import type { StatusBar } from "./status-bar.js";
import type { Modules } from "./wasm.js";

/** At most one write in this time. */
const SAVE_AFTER_MS = 5_000;
/** Whoever holds the lock for longer is not there any more. */
const LOCK_STALE_MS = 10_000;
const LOCK_TRIES = 20;

export class TokenCounts {
  readonly #modules: Modules;
  readonly #folder: vscode.Uri;
  readonly #log: Log;
  readonly #status: StatusBar;
  #tokens: Tokens | undefined;
  #loading: Promise<Tokens> | undefined;
  #estimates = new Map<string, number>();
  #saveTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(modules: Modules, folder: vscode.Uri, log: Log, status: StatusBar) {
    this.#modules = modules;
    this.#folder = folder;
    this.#log = log;
    this.#status = status;
  }

  /** VS Code asks thousands of times a turn and waits each time, so nothing here waits for anything once it is loaded. */
  async count(model: ChatModel, what: string | ChatMessage): Promise<number> {
    const tokens = this.#tokens;
    if (tokens === undefined) {
      void this.#load(model).catch((error: unknown) => this.#log.failure("error", "Tokens cannot be counted exactly", error));
      return this.#estimate(model, what);
    }
    return typeof what === "string"
      ? Math.ceil(tokens.countText(model.id, what) * tokens.factor(model.family))
      : tokens.messageTokens(model.id, model.family, what);
  }

  /** A request begins. The answer does not wait for the counting. */
  begin(chat: ChatRequest, { conversationId, kind }: BuiltRequest, model: ChatModel): RequestBooks {
    const id = crypto.randomUUID();
    const conversation = conversationId ?? id;
    // Titles and the like say nothing about the conversation.
    const show = (line: StatusLine | null): void => (kind === "utility" ? undefined : this.#status.show(line));
    const started = performance.now();
    const opened = new Promise<void>((resolve) => setTimeout(resolve, 0)).then(async () => {
      const tokens = await this.#load(model);
      const request = { id, conversation, chat, family: model.family, maxInputTokens: model.maxInputTokens, now: started };
      const { status, warning } = tokens.begin(request);
      show(status);
      if (warning !== null) {
        this.#log.warn(
          `${modelName(model.id)}: a request comes close to the limit of ${model.maxInputTokens} input tokens, or exceeds it.`,
        );
        this.#log.trace(localized([warning.message]));
      }
      return tokens;
    });
    opened.catch((error: unknown) => this.#log.failure("error", "The books cannot be opened", error));
    return new RequestBooks({ id, conversation }, model, opened, (line) => {
      show(line);
      this.#saveSoon();
    });
  }

  async history(period: "day" | "month"): Promise<HistoryRow[]> {
    return (await this.#load()).history(period);
  }

  /** Before VS Code closes. */
  async dispose(): Promise<void> {
    if (this.#saveTimer !== undefined) {
      clearTimeout(this.#saveTimer);
      await this.#save();
    }
  }

  #load(model?: ChatModel): Promise<Tokens> {
    const load = async (): Promise<Tokens> => {
      // Whoever asks for no model gets the vocabulary that most models share.
      const tokens = await this.#modules.tokens(model?.id ?? "openai/gpt-5");
      const state = tokens.readBooks(await this.#key(), await this.#read("memory"));
      if (state === "damaged") {
        this.#log.warn("What was remembered of token counts and usage was damaged; it starts anew.");
        await this.#rename("memory", "memory.corrupt");
      } else if (state === "newer") {
        this.#log.warn("Token counts and usage are kept by a newer Sluice; this one leaves them alone.");
      }
      this.#estimates = new Map();
      return (this.#tokens = tokens);
    };
    // What failed once may work the next time.
    this.#loading ??= load().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  async #estimate(model: ChatModel, what: string | ChatMessage): Promise<number> {
    const known = typeof what === "string" ? this.#estimates.get(what) : undefined;
    if (known !== undefined) {
      return known;
    }
    const requests = await this.#modules.requests();
    const estimate = requests.estimateTokens(model.id, what);
    if (typeof what === "string" && what.length < 2048) {
      this.#estimates.set(what, estimate);
    }
    return estimate;
  }

  #saveSoon(): void {
    this.#saveTimer ??= setTimeout(() => void this.#save(), SAVE_AFTER_MS);
  }

  /** Read, merge, write a new file, put it in the old one's place. Other windows do the same, one after the other. */
  async #save(): Promise<void> {
    this.#saveTimer = undefined;
    const tokens = this.#tokens;
    if (tokens === undefined) {
      return;
    }
    const lock = vscode.Uri.joinPath(this.#folder, "memory.lock");
    try {
      await this.#lock(lock);
    } catch {
      // The next answer tries again; everything is still in memory.
      return;
    }
    try {
      const bytes = tokens.saveBooks(await this.#read("memory"));
      if (bytes !== undefined) {
        await vscode.workspace.fs.writeFile(vscode.Uri.joinPath(this.#folder, "memory.new"), bytes);
        await this.#rename("memory.new", "memory");
        tokens.booksSaved();
      }
    } catch (error) {
      this.#log.failure("warn", "Token counts and usage are not kept", error);
    } finally {
      await vscode.workspace.fs.delete(lock).then(undefined, () => undefined);
    }
  }

  /** A file that only one window can put in its place. */
  async #lock(lock: vscode.Uri): Promise<void> {
    const mine = lock.with({ path: `${lock.path}.${crypto.randomUUID()}` });
    await vscode.workspace.fs.writeFile(mine, new Uint8Array());
    for (let attempt = 1; ; attempt++) {
      try {
        await vscode.workspace.fs.rename(mine, lock, { overwrite: false });
        return;
      } catch (error) {
        const { mtime } = await vscode.workspace.fs.stat(lock).then(undefined, () => ({ mtime: Date.now() }));
        if (Date.now() - mtime > LOCK_STALE_MS) {
          await vscode.workspace.fs.delete(lock).then(undefined, () => undefined);
        } else if (attempt === LOCK_TRIES) {
          await vscode.workspace.fs.delete(mine).then(undefined, () => undefined);
          throw error;
        }
        await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 100));
      }
    }
  }

  /** Of this installation: hashes made with it mean nothing elsewhere. */
  async #key(): Promise<Uint8Array> {
    const known = await this.#read("key");
    if (known?.length === 16) {
      return known;
    }
    const key = crypto.getRandomValues(new Uint8Array(16));
    try {
      await vscode.workspace.fs.writeFile(vscode.Uri.joinPath(this.#folder, "key"), key);
      // Another window may have been faster.
      return (await this.#read("key")) ?? key;
    } catch {
      return key;
    }
  }

  async #read(name: string): Promise<Uint8Array | undefined> {
    try {
      return await vscode.workspace.fs.readFile(vscode.Uri.joinPath(this.#folder, name));
    } catch {
      return undefined;
    }
  }

  async #rename(from: string, to: string): Promise<void> {
    const file = (name: string): vscode.Uri => vscode.Uri.joinPath(this.#folder, name);
    await vscode.workspace.fs.rename(file(from), file(to), { overwrite: true });
  }
}

/** The books of one request: `part` for every part, `end` once. */
export class RequestBooks {
  readonly #request: { readonly id: string; readonly conversation: string };
  readonly #model: ChatModel;
  readonly #opened: Promise<Tokens>;
  readonly #onEnd: (line: StatusLine | null) => void;
  readonly #answer: Part[] = [];
  #firstPart: { isThinking: boolean; at: number } | undefined;

  constructor(
    request: { readonly id: string; readonly conversation: string },
    model: ChatModel,
    opened: Promise<Tokens>,
    onEnd: (line: StatusLine | null) => void,
  ) {
    this.#request = request;
    this.#model = model;
    this.#opened = opened;
    this.#onEnd = onEnd;
  }

  part(part: Part): void {
    this.#firstPart ??= { isThinking: part.type === "thinking", at: performance.now() };
    const last = this.#answer.at(-1);
    if (part.type === "citations") {
      this.part({ type: "text", value: part.markdown });
    } else if (part.type === "text" && last?.type === "text") {
      last.value += part.value;
    } else if (part.type !== "thinking" || part.replay !== undefined) {
      this.#answer.push({ ...part });
    }
  }

  async end(outcome: Pick<Outcome, "status" | "usage" | "gateway">): Promise<void> {
    const now = performance.now();
    const tokens = await this.#opened.catch(() => undefined);
    if (tokens === undefined) {
      return;
    }
    if (this.#firstPart !== undefined) {
      tokens.part(this.#request.id, this.#firstPart.isThinking, this.#firstPart.at);
    }
    const { status } = tokens.end({
      ...this.#request,
      answer: this.#answer,
      isCompleted: outcome.status === "completed",
      isAnswered: outcome.status === "completed" || outcome.status === "incomplete",
      usage: outcome.usage,
      cost: outcome.gateway?.cost ?? null,
      prices: this.#model.prices,
      now,
    });
    this.#onEnd(status);
  }
}
