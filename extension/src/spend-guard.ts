// The spend guard: asks before a request would pass one of the user's limits. The core decides, and limits.rs describes how
// several windows share the limits: each writes what it has reserved before it reads what the others have.

import * as vscode from "vscode";

import type { LimitState, SpendLimits } from "../../packages/loader/src/core.js";
import type { Modules } from "../../packages/loader/src/modules.js";
import type { Tokens } from "../../packages/loader/src/tokens.js";
import { Folder } from "./folder.js";
import type { Log } from "./log.js";
import { localized } from "./messages.js";
import { ask, input, plainError, showWarning } from "./notify.js";
import { openSetting, readSettings } from "./settings.js";

/** The window that wrote a file, and how many it has written. */
const NAME = /^([\da-f-]+)\.(\d+)\.reserved$/;
/** How often the files are listed again because one of them has been replaced. */
const MAX_ATTEMPTS = 20;

export class SpendGuard {
  readonly #folder: Folder;
  /** This window's part of the names of its files. */
  readonly #own = crypto.randomUUID();
  /** The number of the file with what this window has reserved. */
  #number = 0;
  /** One file is written at a time, so that an older one never replaces a newer one. */
  #writing: Promise<void> = Promise.resolve();
  /** The limit that stopped a request last. */
  #stopped: LimitState | undefined;

  constructor(
    private readonly modules: Modules,
    folder: vscode.Uri,
    private readonly log: Log,
  ) {
    this.#folder = new Folder(folder);
  }

  /** Returns the user's limits, or null if there are none. */
  async limits(): Promise<SpendLimits | null> {
    return readSettings(await this.modules.requests(), this.log).spend;
  }

  /**
   * Waits until a request may be sent, and throws if it may not. `reload` reads what other windows have spent. One request is
   * checked at a time, so that the user is asked once.
   */
  permit(id: string, tokens: Tokens, reload: () => Promise<void>): Promise<void> {
    return this.#folder.inTurn(() => this.#permit(id, tokens, reload));
  }

  async #permit(id: string, tokens: Tokens, reload: () => Promise<void>): Promise<void> {
    await this.write(() => tokens.reserve(id));
    for (;;) {
      // What a window has spent is in its file until it is in the files of the memory, which are therefore read last.
      const limits = (await this.limits()) ?? {};
      const others = await this.#others();
      // Nothing may happen between this and the decision, because saving changes what is known.
      await reload();
      const { verdict, old } = tokens.checkSpending(
        id,
        limits,
        others.map(([, content]) => content),
      );
      others.forEach(([name], index) => old[index] === true && void this.#folder.delete(name));
      const text = localized(verdict.text);
      switch (verdict.action) {
        case "go":
          return;
        case "warn":
          void showWarning(`Sluice: ${text}`);
          return;
        case "stop":
          this.#stopped = verdict.limit ?? undefined;
          await this.write(() => tokens.release(id));
          throw plainError(`${text} ${vscode.l10n.t('"Sluice: Raise a Spend Limit" in the command palette does that.')}`);
        case "ask": {
          const [go, raise] = [vscode.l10n.t("Continue This Conversation"), vscode.l10n.t("Raise the Limit")];
          const answer = await ask(text, go, raise, vscode.l10n.t("Stop"));
          if (answer !== raise || !(await this.#raise(verdict.limit!))) {
            tokens.chooseSpending(id, answer === go ? "continue" : "stop", verdict.limit);
          }
        }
      }
    }
  }

  /** Returns how much of each limit for days and months all windows have used. */
  async states(tokens: Tokens): Promise<LimitState[]> {
    const limits = (await this.limits()) ?? {};
    const others = await this.#others();
    const states = tokens.limitStates(
      limits,
      others.map(([, content]) => content),
    );
    return states.filter(({ period }) => period === "day" || period === "month");
  }

  /** Raises the limit that stopped a request last. */
  async raise(): Promise<void> {
    await (this.#stopped === undefined ? openSetting("spend") : this.#raise(this.#stopped));
  }

  /** Returns whether the user entered a higher limit. */
  async #raise({ period, model, limit }: LimitState): Promise<boolean> {
    const problem = vscode.l10n.t("Enter an amount of more than ${0}.", limit);
    const entered = await input({
      title: vscode.l10n.t("Raise a Spend Limit"),
      prompt: vscode.l10n.t("The new limit in US dollars"),
      value: String(limit * 2),
      check: async (text) => (Number(text) > limit ? undefined : { problem, mayKeep: false }),
    });
    if (typeof entered !== "string") {
      return false;
    }
    const configuration = vscode.workspace.getConfiguration("sluice.spend");
    const models = configuration.get<{ [model: string]: object }>("models", {});
    const [name, value] =
      model === null ? [period, Number(entered)] : ["models", { ...models, [model]: { ...models[model], [period]: Number(entered) } }];
    await configuration.update(name, value, vscode.ConfigurationTarget.Global);
    return true;
  }

  /**
   * Writes what this window has reserved. VS Code can't replace a file in one step, and what is reserved must never be out of
   * sight, so the new file is complete before the old one is deleted.
   */
  write(content: () => string): Promise<void> {
    return (this.#writing = this.#writing.then(() => this.#write(content())));
  }

  async #write(content: string): Promise<void> {
    const old = `${this.#own}.${this.#number}.reserved`;
    try {
      if (content !== "") {
        const next = this.#number + 1;
        await this.#folder.write(`${this.#own}.${next}.reserved`, content);
        this.#number = next;
      }
      await this.#folder.delete(old);
    } catch (error) {
      this.log.failure("warn", "Other windows don't know what this one has reserved", error);
    }
  }

  /** Returns the newest file of each other window, also of those that have crashed. */
  async #others(): Promise<[name: string, content: string][]> {
    for (let attempt = 1; ; attempt += 1) {
      const newest = new Map<string, { name: string; number: number }>();
      for (const name of await this.#folder.list()) {
        const [, window, digits] = NAME.exec(name) ?? [];
        const number = Number(digits);
        if (window !== undefined && window !== this.#own && number > (newest.get(window)?.number ?? 0)) {
          newest.set(window, { name, number });
        }
      }
      const read = async ({ name }: { name: string }): Promise<[string, string | undefined]> => [name, await this.#folder.readText(name)];
      const files = await Promise.all([...newest.values()].map(read));
      const found = files.filter((file): file is [string, string] => file[1] !== undefined);
      // A file that is gone has been replaced by a newer one, or its window has nothing reserved any more.
      if (attempt === MAX_ATTEMPTS || found.length === files.length) {
        return found;
      }
    }
  }
}
