// The models of a connection: shown from memory, refreshed in the background, and kept between starts. The core decides
// what the list means.

import * as vscode from "vscode";

import type { CatalogEvent, CatalogView } from "../../packages/loader/src/core.js";
import type { Connection } from "./connections.js";
import { get } from "./http.js";
import type { Log } from "./log.js";
import { modelSettings } from "./settings.js";
import type { Modules } from "./wasm.js";

export class ModelLists {
  readonly #modules: Modules;
  readonly #storage: vscode.Uri;
  readonly #log: Log;
  readonly #changed = new vscode.EventEmitter<void>();
  /** Keyed by base URL. */
  readonly #catalogs = new Map<string, CatalogView>();
  readonly #enriched = new Set<string>();
  readonly #refreshing = new Map<string, Promise<CatalogView>>();
  /** The notes that were logged last, keyed by base URL. */
  readonly #logged = new Map<string, string>();
  readonly onDidChange = this.#changed.event;

  constructor(modules: Modules, storage: vscode.Uri, log: Log) {
    this.#modules = modules;
    this.#storage = storage;
    this.#log = log;
  }

  /** Returns immediately if a list is known. It may be a little old; a change is announced later. */
  async list(connection: Connection): Promise<CatalogView> {
    const { baseUrl } = connection.endpoint;
    let known = this.#catalogs.get(baseUrl);
    if (known === undefined) {
      known = await this.#apply(connection, undefined, await this.#restore(connection));
    }
    if (known.state === "missing") {
      return this.refresh(connection);
    }
    if (known.state === "stale") {
      // This throws if the sign-in has expired. The known list stays.
      this.refresh(connection).catch((error: unknown) => this.#log.failure("warn", `Models of ${connection.endpoint.origin}`, error));
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
    const requests = await this.#modules.requests();
    const snapshot = this.#catalogs.get(baseUrl)?.snapshot;
    const { endpointsRequest } = requests.catalog({ baseUrl, snapshot, settings: modelSettings(), about: model });
    if (endpointsRequest !== null) {
      const answer = await get(connection, endpointsRequest);
      if (!("transport" in answer)) {
        await this.#apply(connection, { endpointsReceived: [model, answer] });
      }
    }
  }

  /** Something about a model was learned from a request to it. */
  async learn(connection: Connection, event: CatalogEvent): Promise<void> {
    await this.#apply(connection, event);
  }

  /** The settings changed. */
  async reread(connections: readonly Connection[]): Promise<void> {
    await Promise.all(connections.map((connection) => this.#apply(connection, undefined)));
    this.#changed.fire();
  }

  async #refresh(connection: Connection): Promise<CatalogView> {
    const requests = await this.#modules.requests();
    const { baseUrl } = connection.endpoint;
    const snapshot = this.#catalogs.get(baseUrl)?.snapshot;
    const { listRequest } = requests.catalog({ baseUrl, snapshot, settings: modelSettings() });
    const answer = await get(connection, listRequest);
    return this.#apply(connection, "transport" in answer ? { listFailed: answer.transport } : { listReceived: answer });
  }

  async #apply(connection: Connection, event?: CatalogEvent, restored?: string): Promise<CatalogView> {
    const requests = await this.#modules.requests();
    const { baseUrl } = connection.endpoint;
    const snapshot = restored ?? this.#catalogs.get(baseUrl)?.snapshot;
    const settings = modelSettings();
    const catalog = requests.catalog({ baseUrl, snapshot, settings, event });
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

  /** The list is read often and its notes stay the same, so they are logged once. */
  #logNotes({ endpoint: { baseUrl, origin } }: Connection, { notes, models }: CatalogView): void {
    const all = notes.map(({ kind, detail }) => `${kind} ${detail}`).join("\n");
    if (all === (this.#logged.get(baseUrl) ?? "")) {
      return;
    }
    this.#logged.set(baseUrl, all);
    for (const { kind, detail } of notes) {
      if (kind === "setting") {
        this.#log.info(`Models of ${origin}: ${detail}`);
      } else {
        this.#log.trace(`Models of ${origin}: ${detail}`);
      }
    }
    const fromServer = notes.filter(({ kind }) => kind !== "setting").length;
    if (fromServer > 0) {
      this.#log.info(`Models of ${origin}: ${models.length} models can chat; notes about the list, shown at trace: ${fromServer}.`);
    }
  }

  async #restore(connection: Connection): Promise<string | undefined> {
    try {
      return new TextDecoder().decode(await vscode.workspace.fs.readFile(this.#file(connection)));
    } catch {
      return undefined; // Not there yet.
    }
  }

  async #store(connection: Connection, snapshot: string): Promise<void> {
    const file = this.#file(connection);
    const unfinished = file.with({ path: `${file.path}.${crypto.randomUUID()}.tmp` });
    try {
      await vscode.workspace.fs.writeFile(unfinished, new TextEncoder().encode(snapshot));
      await vscode.workspace.fs.rename(unfinished, file, { overwrite: true });
    } catch (error) {
      this.#log.failure("warn", "The list of models cannot be kept", error);
    }
  }

  #file(connection: Connection): vscode.Uri {
    const name = connection.endpoint.baseUrl.replace(/[^A-Za-z0-9.-]+/g, "_");
    return vscode.Uri.joinPath(this.#storage, `models-${name}.json`);
  }
}
