// The spend guard: asks before a request would pass one of the user's limits. The core decides (limits.rs).

import * as vscode from "vscode";

import type { LedgerTask, LimitState, SpendLimits, Verdict } from "../../packages/loader/src/core.js";
import type { Modules } from "../../packages/loader/src/modules.js";
import type { Tokens } from "../../packages/loader/src/tokens.js";
import type { Log } from "./log.js";
import { localized } from "./messages.js";
import { ask, input, plainError, showWarning } from "./notify.js";
import { openSetting, readSettings } from "./settings.js";

/** Carries out work on the files of the ledger. */
type Work = <T>(task: LedgerTask) => Promise<T>;

export class SpendGuard {
  /** Resolves when no request is being checked. */
  #turn: Promise<void> = Promise.resolve();
  /** The limit that stopped a request last. */
  #stopped: LimitState | undefined;

  constructor(
    private readonly modules: Modules,
    private readonly log: Log,
  ) {}

  /** Returns the user's limits, or null if there are none. */
  async limits(): Promise<SpendLimits | null> {
    return readSettings(await this.modules.requests(), this.log).spend;
  }

  /** Waits until a request may be sent, and throws if it may not. One request is checked at a time, so that the user is asked once. */
  permit(id: string, tokens: Tokens, work: Work): Promise<void> {
    const permitted = this.#turn.then(() => this.#permit(id, tokens, work));
    this.#turn = permitted.catch(() => undefined);
    return permitted;
  }

  async #permit(id: string, tokens: Tokens, work: Work): Promise<void> {
    for (;;) {
      const limits = (await this.limits()) ?? {};
      const verdict = await work<Verdict>({ checkSpending: { id, limits } });
      const text = localized(verdict.text);
      switch (verdict.action) {
        case "go":
          return;
        case "warn":
          void showWarning(`Sluice: ${text}`);
          return;
        case "stop":
          this.#stopped = verdict.limit ?? undefined;
          await work({ release: { id } });
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
}
