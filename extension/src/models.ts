// The models of a connection: shown from memory, refreshed in the background, and kept between starts. The core decides
// what the list means.

import * as vscode from "vscode";

import type { CatalogEvent, CatalogView, KeyCheck, Message, Report } from "../../packages/loader/src/core.js";
import { get } from "../../packages/loader/src/http.js";
import type { Modules } from "../../packages/loader/src/modules.js";
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

/** The file in which the list of a connection is kept. */
function fileOf({ id }: Connection): string {
  return `models-${id.replace(/[^A-Za-z0-9.-]+/g, "_")}.json`;
}

export class ModelLists {
  readonly #folder: Folder;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #refused = new vscode.EventEmitter<Refusal>();
  /** By connection: a server may have other models for another key, or none. */
  readonly #catalogs = new Map<string, CatalogView>();
  readonly #enriched = new Set<string>();
  readonly #toldRefused = new Set<string>();
  readonly #refreshing = new Map<string, Promise<CatalogView>>();
  /** The notes that were logged last. */
  readonly #logged = new Map<string, string>();
  readonly onDidChange = this.#changed.event;
  /** A server has refused its key. */
  readonly onDidRefuse = this.#refused.event;

  constructor(
    private readonly modules: Modules,
    storage: vscode.Uri,
    private readonly log: Log,
  ) {
    this.#folder = new Folder(storage);
  }

  /** Returns immediately if a list is known. It may be a little old; a change is announced later. */
  async list(connection: Connection): Promise<CatalogView> {
    const restore = async (): Promise<CatalogView> => this.learn(connection, undefined, await this.#folder.readText(fileOf(connection)));
    const known = this.#catalogs.get(connection.id) ?? (await restore());
    if (known.state === "missing") {
      const { list, refusal } = await this.check(connection);
      if (refusal !== undefined) {
        this.keyRefused(connection, refusal);
        throw new KnownError(refusal);
      }
      return list;
    }
    if (known.state === "stale") {
      // This throws if the sign-in has expired. The known list stays.
      this.refresh(connection).catch((error: unknown) => this.log.failure("warn", `Models of ${connection.endpoint.origin}`, error));
    }
    return known;
  }

  /** Asks the server. A bad response doesn't replace a known list. */
  refresh(connection: Connection): Promise<CatalogView> {
    const { id } = connection;
    const refresh = this.#refreshing.get(id) ?? this.#refresh(connection).finally(() => this.#refreshing.delete(id));
    this.#refreshing.set(id, refresh);
    return refresh;
  }

  /** Asks for the list, and whether the server accepts the key. Returns the reason if it doesn't. */
  async check(connection: Connection): Promise<{ readonly list: CatalogView; readonly refusal: string | undefined }> {
    // Some servers list their models for everybody, so the list doesn't show whether the key is valid.
    const [list, key] = await Promise.all([this.refresh(connection), this.#checkKey(connection)]);
    const refusal = key?.state === "refused" ? key.text : list.refusal;
    return { list, refusal: refusal === null ? undefined : localized(refusal) };
  }

  /** Asks how much credit is left. Returns undefined if the server doesn't say. */
  async credit(connection: Connection): Promise<Message | undefined> {
    return (await this.#checkKey(connection))?.credit?.text;
  }

  async #checkKey(connection: Connection): Promise<KeyCheck | undefined> {
    if (connection.isDemo) {
      return undefined;
    }
    const requests = await this.modules.requests();
    const { creditsRequest } = await this.#ask(connection);
    const answer = await get(requests, connection, creditsRequest);
    return "transport" in answer ? undefined : requests.checkKey(answer);
  }

  /** A server said that a key isn't valid. A message says so once for each key. */
  keyRefused(connection: Connection, reason: string): void {
    if (!this.#toldRefused.has(connection.id) && !connection.isTrial) {
      this.#toldRefused.add(connection.id);
      this.#refused.fire({ connection, reason });
    }
  }

  /** Deletes everything that is kept about a connection that is gone. */
  async forget(connection: Connection): Promise<void> {
    this.#catalogs.delete(connection.id);
    await this.#folder.delete(fileOf(connection));
  }

  /**
   * Asks who serves a model and with which limits. This is requested when a model is used, because the list says little
   * about it.
   */
  async enrich(connection: Connection, model: string): Promise<void> {
    // Once per window: looking into the catalog takes milliseconds, and some servers never report this.
    const once = `${connection.id} ${model}`;
    if (this.#enriched.has(once)) {
      return;
    }
    this.#enriched.add(once);
    const { endpointsRequest } = await this.#ask(connection, { about: model });
    if (endpointsRequest !== null) {
      const answer = await get(await this.modules.requests(), connection, endpointsRequest);
      if (!("transport" in answer)) {
        await this.learn(connection, { endpointsReceived: [model, answer] });
      }
    }
  }

  /** The settings changed. */
  async reread(connections: readonly Connection[]): Promise<void> {
    await Promise.all(connections.map((connection) => this.learn(connection, undefined)));
    this.#changed.fire();
  }

  async #refresh(connection: Connection): Promise<CatalogView> {
    const requests = await this.modules.requests();
    const { listRequest } = await this.#ask(connection);
    const answer = await get(requests, connection, listRequest);
    const known = await this.learn(connection, "transport" in answer ? { listFailed: answer.transport } : { listReceived: answer });
    if (known.refusal !== null) {
      this.keyRefused(connection, localized(known.refusal));
    }
    if (known.otherListRequest === null) {
      return known;
    }
    const other = await get(requests, connection, known.otherListRequest);
    return "transport" in other ? known : this.learn(connection, { otherListReceived: other });
  }

  /** Remembers what an answer or a test has shown about a model. */
  async learnFrom(connection: Connection, model: string, { refused, overflow }: Pick<Report, "refused" | "overflow">): Promise<void> {
    if (refused.length > 0 || overflow !== null) {
      await this.learn(connection, { answered: { model, refused, overflow } });
    }
  }

  /** Returns what is known about the models, after something happened. */
  async learn(connection: Connection, event?: CatalogEvent, restored?: string): Promise<CatalogView> {
    const snapshot = restored ?? this.#catalogs.get(connection.id)?.snapshot;
    const catalog = await this.#ask(connection, { snapshot, event });
    this.#catalogs.set(connection.id, catalog);
    this.#logNotes(connection, catalog);
    if (event !== undefined && catalog.snapshot !== snapshot && !connection.isDemo) {
      const failed = (error: unknown): void => this.log.failure("warn", "The list of models cannot be kept", error);
      await this.#folder.replace(fileOf(connection), catalog.snapshot).catch(failed);
    }
    if (catalog.changed) {
      this.#changed.fire();
    }
    return catalog;
  }

  async #ask(
    connection: Connection,
    more: { snapshot?: string | undefined; event?: CatalogEvent | undefined; about?: string } = {},
  ): Promise<CatalogView> {
    const requests = await this.modules.requests();
    const { baseUrl, origin } = connection.endpoint;
    const { models: settings, headers } = readSettings(requests, this.log);
    const snapshot = this.#catalogs.get(connection.id)?.snapshot;
    return requests.catalog({ baseUrl, snapshot, settings, extraHeaders: headers[origin], ...more });
  }

  /** The list is read often and its notes stay the same, so they are logged once. */
  #logNotes(connection: Connection, { notes, models }: CatalogView): void {
    const { origin } = connection.endpoint;
    const all = notes.map(({ kind, detail }) => `${kind} ${detail}`).join("\n");
    if (all === (this.#logged.get(connection.id) ?? "")) {
      return;
    }
    this.#logged.set(connection.id, all);
    for (const { kind, detail } of notes) {
      this.log[kind === "setting" ? "info" : "trace"](`Models of ${origin}: ${detail}`);
    }
    const fromServer = notes.filter(({ kind }) => kind !== "setting").length;
    if (fromServer > 0) {
      this.log.info(`Models of ${origin}: ${models.length} models can chat; notes about the list, shown at trace: ${fromServer}.`);
    }
  }
}
