// The spend guard: asks before a request would pass one of the user's limits. The core decides, and limits.rs describes how
// several windows share the limits: each writes what it has reserved before it reads what the others have.

import * as vscode from "vscode";

import type { LimitState, SpendLimit, SpendLimits } from "../../packages/loader/src/core.js";
import type { Tokens } from "../../packages/loader/src/tokens.js";
import type { Log } from "./log.js";
import { localized } from "./messages.js";
import { ask, input, plainError, showWarning } from "./notify.js";
import { openSetting } from "./settings.js";

/** Returns the user's limits in US dollars, or undefined if there are none. A limit of zero is none. */
export function spendLimits(): SpendLimits | undefined {
  const values = vscode.workspace.getConfiguration("sluice").get<{ [name: string]: unknown }>("spend", {});
  const limit = (of: { [period: string]: unknown }): SpendLimit =>
    Object.fromEntries(
      ["request", "conversation", "day", "month"].flatMap((period) => {
        const dollars = of[period];
        return typeof dollars === "number" && dollars > 0 ? [[period, dollars]] : [];
      }),
    );
  const models = Object.entries(values["models"] ?? {}).flatMap(([model, of]) =>
    typeof of === "object" && of !== null && Object.keys(limit(of)).length > 0 ? [[model, limit(of)] as const] : [],
  );
  const all = limit(values);
  const hasLimit = Object.keys(all).length + models.length > 0;
  return hasLimit ? { ...all, models: Object.fromEntries(models), isHard: values["hardStop"] === true } : undefined;
}

export class SpendGuard {
  /** The file with what this window has reserved. */
  readonly #own = `${crypto.randomUUID()}.reserved`;
  /** One request is checked at a time, so that the user is asked once. */
  #turn: Promise<unknown> = Promise.resolve();
  /** The limit that stopped a request last. */
  #stopped: LimitState | undefined;

  constructor(
    private readonly folder: vscode.Uri,
    private readonly log: Log,
  ) {}

  /**
   * Waits until a request may be sent, and throws if it may not. `reload` reads what other windows have spent.
   */
  permit(id: string, tokens: Tokens, reload: () => Promise<void>): Promise<void> {
    const permitted = this.#turn.then(() => this.#permit(id, tokens, reload));
    this.#turn = permitted.catch(() => undefined);
    return permitted;
  }

  async #permit(id: string, tokens: Tokens, reload: () => Promise<void>): Promise<void> {
    await this.write(tokens.reserve(id));
    for (;;) {
      // What a window has spent is in its file until it is in the files of the memory, which are therefore read last.
      const others = await this.#others();
      await reload();
      const { verdict, old } = tokens.checkSpending(
        id,
        spendLimits() ?? {},
        others.map(([, content]) => content),
      );
      others.forEach(
        ([name], index) => old[index] === true && void vscode.workspace.fs.delete(this.#file(name)).then(undefined, () => undefined),
      );
      const text = localized(verdict.text);
      switch (verdict.action) {
        case "go":
          return;
        case "warn":
          void showWarning(`Sluice: ${text}`);
          return;
        case "stop":
          this.#stopped = verdict.limit ?? undefined;
          await this.write(tokens.release(id));
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

  /** Replaces this window's file, or deletes it if nothing is reserved. */
  async write(content: string): Promise<void> {
    try {
      if (content === "") {
        await vscode.workspace.fs.delete(this.#file(this.#own)).then(undefined, () => undefined);
        return;
      }
      await vscode.workspace.fs.createDirectory(this.folder);
      const unfinished = this.#file(`${this.#own}.tmp`);
      await vscode.workspace.fs.writeFile(unfinished, new TextEncoder().encode(content));
      await vscode.workspace.fs.rename(unfinished, this.#file(this.#own), { overwrite: true });
    } catch (error) {
      this.log.failure("warn", "Other windows don't know what this one has reserved", error);
    }
  }

  /** Returns the files of the other windows, also of those that have crashed. */
  async #others(): Promise<[name: string, content: string][]> {
    const entries = await vscode.workspace.fs.readDirectory(this.folder).then(undefined, () => []);
    const names = entries.map(([name]) => name).filter((name) => name.endsWith(".reserved") && name !== this.#own);
    const read = async (name: string): Promise<[string, string][]> =>
      vscode.workspace.fs.readFile(this.#file(name)).then(
        (bytes): [string, string][] => [[name, new TextDecoder().decode(bytes)]],
        () => [],
      );
    return (await Promise.all(names.map(read))).flat();
  }

  #file(name: string): vscode.Uri {
    return vscode.Uri.joinPath(this.folder, name);
  }
}
