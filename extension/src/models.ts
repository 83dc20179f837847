// The models of a connection: shown from memory, refreshed in the background, and kept between starts. The core decides
// what the list means.

import * as vscode from "vscode";

import type { CatalogEvent, CatalogView } from "../../packages/loader/src/core.js";
import { get } from "../../packages/loader/src/http.js";
import type { Modules } from "../../packages/loader/src/modules.js";
import type { Connection } from "./connections.js";
import type { Log } from "./log.js";
import { readSettings } from "./settings.js";

export class ModelLists {
  readonly #changed = new vscode.EventEmitter<void>();
  /** Keyed by base URL. */
  readonly #catalogs = new Map<string, CatalogView>();
  readonly #enriched = new Set<string>();
  readonly #refreshing = new Map<string, Promise<CatalogView>>();
  /** The notes that were logged last, keyed by base URL. */
  readonly #logged = new Map<string, string>();
  readonly onDidChange = this.#changed.event;

  constructor(
    private readonly modules: Modules,
    private readonly storage: vscode.Uri,
    private readonly log: Log,
  ) {}

  /** Returns immediately if a list is known. It may be a little old; a change is announced later. */
  async list(connection: Connection): Promise<CatalogView> {
    const { baseUrl } = connection.endpoint;
    let known = this.#catalogs.get(baseUrl);
    if (known === undefined) {
      const file = await vscode.workspace.fs.readFile(this.#file(connection)).then(undefined, () => undefined);
      known = await this.learn(connection, undefined, file && new TextDecoder().decode(file));
    }
    if (known.state === "missing") {
      return this.refresh(connection);
    }
    if (known.state === "stale") {
      // This throws if the sign-in has expired. The known list stays.
      this.refresh(connection).catch((error: unknown) => this.log.failure("warn", `Models of ${connection.endpoint.origin}`, error));
    }
    return known;
  }

  /** Asks the server. A bad response doesn't replace a known list. */
  refresh(connection: Connection): Promise<CatalogView> {
    const { baseUrl } = connection.endpoint;
    const running = this.#refreshing.get(baseUrl);
    if (running !== undefined) {
      return running;
    }
    const refresh = this.#refresh(connection).finally(() => this.#refreshing.delete(baseUrl));
    this.#refreshing.set(baseUrl, refresh);
    return refresh;
  }

  /**
   * Asks who serves a model and with which limits. This is requested when a model is used, because the list says little
   * about it.
   */
  async enrich(connection: Connection, model: string): Promise<void> {
    const { baseUrl } = connection.endpoint;
    // Once per window: looking into the catalog takes milliseconds, and some servers never report this.
    if (this.#enriched.has(`${baseUrl} ${model}`)) {
      return;
    }
    this.#enriched.add(`${baseUrl} ${model}`);
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
    const { listRequest } = await this.#ask(connection);
    const requests = await this.modules.requests();
    const answer = await get(requests, connection, listRequest);
    const known = await this.learn(connection, "transport" in answer ? { listFailed: answer.transport } : { listReceived: answer });
    if (known.otherListRequest === null) {
      return known;
    }
    const other = await get(requests, connection, known.otherListRequest);
    return "transport" in other ? known : this.learn(connection, { otherListReceived: other });
  }

  /** Returns what is known about the models, after something happened. */
  async learn(connection: Connection, event?: CatalogEvent, restored?: string): Promise<CatalogView> {
    const { baseUrl } = connection.endpoint;
    const snapshot = restored ?? this.#catalogs.get(baseUrl)?.snapshot;
    const catalog = await this.#ask(connection, { snapshot, event });
    this.#catalogs.set(baseUrl, catalog);
    this.#logNotes(connection, catalog);
    if (event !== undefined && catalog.snapshot !== snapshot && !connection.isDemo) {
      await this.#store(connection, catalog.snapshot);
    }
    if (catalog.changed) {
      this.#changed.fire();
    }
    return catalog;
  }

  async #ask(
    { endpoint: { baseUrl, origin } }: Connection,
    more: { snapshot?: string | undefined; event?: CatalogEvent | undefined; about?: string } = {},
  ): Promise<CatalogView> {
    const requests = await this.modules.requests();
    const { models: settings, headers } = readSettings(requests, this.log);
    const snapshot = this.#catalogs.get(baseUrl)?.snapshot;
    return requests.catalog({ baseUrl, snapshot, settings, extraHeaders: headers[origin], ...more });
  }

  /** The list is read often and its notes stay the same, so they are logged once. */
  #logNotes({ endpoint: { baseUrl, origin } }: Connection, { notes, models }: CatalogView): void {
    const all = notes.map(({ kind, detail }) => `${kind} ${detail}`).join("\n");
    if (all === (this.#logged.get(baseUrl) ?? "")) {
      return;
    }
    this.#logged.set(baseUrl, all);
    for (const { kind, detail } of notes) {
      this.log[kind === "setting" ? "info" : "trace"](`Models of ${origin}: ${detail}`);
    }
    const fromServer = notes.filter(({ kind }) => kind !== "setting").length;
    if (fromServer > 0) {
      this.log.info(`Models of ${origin}: ${models.length} models can chat; notes about the list, shown at trace: ${fromServer}.`);
    }
  }

  async #store(connection: Connection, snapshot: string): Promise<void> {
    const file = this.#file(connection);
    const unfinished = file.with({ path: `${file.path}.${crypto.randomUUID()}.tmp` });
    try {
      await vscode.workspace.fs.writeFile(unfinished, new TextEncoder().encode(snapshot));
      await vscode.workspace.fs.rename(unfinished, file, { overwrite: true });
    } catch (error) {
      this.log.failure("warn", "The list of models cannot be kept", error);
    }
  }

  #file(connection: Connection): vscode.Uri {
    const name = connection.endpoint.baseUrl.replace(/[^A-Za-z0-9.-]+/g, "_");
    return vscode.Uri.joinPath(this.storage, `models-${name}.json`);
  }
}
