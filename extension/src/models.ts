// The models of connections. The core decides when a server is asked and what is kept (models/lists.rs); its work is carried
// out here.

import * as vscode from "vscode";

import type { CatalogView, ListWork } from "../../packages/loader/src/core.js";
import { get } from "../../packages/loader/src/http.js";
import type { Modules } from "../../packages/loader/src/modules.js";
import type { Shell } from "../../packages/loader/src/work.js";
import type { Connection } from "./connections.js";
import { Folder } from "./folder.js";
import type { Log } from "./log.js";
import { localized } from "./messages.js";
import { KnownError } from "./notify.js";
import { readSettings } from "./settings.js";

/** A key that a server refused, and the reason. */
export interface Refusal {
  readonly connection: Connection;
  readonly reason: string;
}

export class ModelLists {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #refused = new vscode.EventEmitter<Refusal>();
  readonly #running = new Map<string, Promise<CatalogView>>();
  /** By connection: the list that was shown last, and until when it is fresh. VS Code asks for models often. */
  readonly #shown = new Map<string, { readonly view: CatalogView; readonly until: number }>();
  /** How often a list or the settings have changed. */
  #changes = 0;
  readonly onDidChange = this.#changed.event;
  /** A server has refused its key. */
  readonly onDidRefuse = this.#refused.event;

  constructor(
    private readonly modules: Modules,
    private readonly storage: vscode.Uri,
    private readonly log: Log,
  ) {}

  /** Returns immediately if a list is known. It may be a little old; a change is announced later. */
  async list(connection: Connection): Promise<CatalogView> {
    const shown = this.#shown.get(connection.id);
    if (shown !== undefined && Date.now() < shown.until) {
      return shown.view;
    }
    const changes = this.#changes;
    const view = await this.work(connection, "list");
    if (changes === this.#changes) {
      this.#shown.set(connection.id, { view, until: Date.now() + view.freshForMs });
    }
    if (view.mustRefresh) {
      // This throws if the sign-in has expired. The known list stays.
      this.work(connection, "refresh").catch((error: unknown) =>
        this.log.failure("warn", `Models of ${connection.endpoint.origin}`, error),
      );
    }
    if (view.check.refusal !== null) {
      throw new KnownError(localized(view.check.refusal));
    }
    return view;
  }

  /** The settings changed. */
  async reread(connections: readonly Connection[]): Promise<void> {
    this.#forgetShown();
    await Promise.all(connections.map((connection) => this.work(connection, "show")));
    this.#changed.fire();
  }

  /** Does something with the models of a connection. If the same is being done already, this waits for it. */
  work(connection: Connection, work: ListWork): Promise<CatalogView> {
    const which = JSON.stringify([connection.id, work]);
    const running = this.#running.get(which) ?? this.#run(connection, work).finally(() => this.#running.delete(which));
    this.#running.set(which, running);
    return running;
  }

  async #run(connection: Connection, work: ListWork): Promise<CatalogView> {
    const { id, label, endpoint, isDemo, isTrial } = connection;
    const requests = await this.modules.requests();
    const { models: settings, headers } = readSettings(requests, this.log);
    const extraHeaders = headers[endpoint.origin] ?? {};
    const task = { connection: id, label, baseUrl: endpoint.baseUrl, isDemo, isTrial, settings, extraHeaders, work };
    const folder = new Folder(this.storage, (error) => this.log.failure("warn", "The list of models cannot be kept", error));
    const perform: Shell["perform"] = async (step, content) =>
      step.type === "get"
        ? { received: await Promise.all(step.requests.map((request) => get(requests, connection, request))) }
        : folder.perform(step, content);
    const view = await folder.inTurn(() => requests.run<CatalogView>({ models: task }, { perform }));
    view.log.forEach(([level, line]) => this.log[level](line));
    if (view.tell !== null) {
      this.#refused.fire({ connection, reason: localized(view.tell) });
    }
    if (view.changed || work === "forget") {
      this.#forgetShown();
    }
    if (view.changed) {
      this.#changed.fire();
    }
    return view;
  }

  #forgetShown(): void {
    this.#shown.clear();
    this.#changes += 1;
  }
}
