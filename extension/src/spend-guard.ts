// The spend guard: asks before a request would pass one of the user's limits. The core decides (limits.rs).

import type { LedgerTask, LimitState, SpendLimits, Verdict } from "../../packages/loader/src/core.js";
import type { Modules } from "../../packages/loader/src/modules.js";
import type { Tokens } from "../../packages/loader/src/tokens.js";
import type { Dialogs } from "./dialogs.js";
import type { Log } from "./log.js";
import { localized } from "./messages.js";
import { plainError, showWarning } from "./notify.js";
import { readSettings } from "./settings.js";

/** Carries out work on the files of the ledger. */
type Work = <T>(task: LedgerTask) => Promise<T>;

export class SpendGuard {
  /** Resolves when no request is being checked. */
  #turn: Promise<void> = Promise.resolve();
  /** The limit that stopped a request last. */
  #stopped: LimitState | null = null;

  constructor(
    private readonly modules: Modules,
    private readonly log: Log,
    private readonly dialogs: Dialogs,
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
      const { action, limit, text } = await work<Verdict>({ checkSpending: { id, limits } });
      if (action === "stop") {
        this.#stopped = limit;
        throw plainError(localized(text));
      }
      if (action === "warn") {
        void showWarning(`Sluice: ${localized(text)}`);
      }
      if (action !== "ask") {
        return;
      }
      const choice = await this.dialogs.run({ askAboutLimit: { text, limit: limit! } });
      if (choice !== null) {
        tokens.chooseSpending(id, choice, limit);
      }
    }
  }

  /** Lets the user raise the limit that stopped a request last. */
  async raise(): Promise<void> {
    await this.dialogs.run({ raiseLimit: this.#stopped });
  }
}
