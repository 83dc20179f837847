// Where requests go and with which key. The core decides which connections can be used (connections.rs); keys stay here.

import * as vscode from "vscode";

import type { AddressQuestion, ConnectionResult, ConnectionTask, FoundConnection } from "../../packages/loader/src/boundary.js";
import { type Endpoint, type GroupSource, KEY_VARIABLES, type KeptKey, type SourceKey } from "../../packages/loader/src/boundary.js";
import { fetchFor } from "../../packages/loader/src/direct-fetch.js";
import { isHeaderSafe, type Server } from "../../packages/loader/src/http.js";
import type { Modules } from "../../packages/loader/src/modules.js";
import type { Shell } from "../../packages/loader/src/work.js";
import { hostProcess } from "./host-process.js";
import type { KeyStore } from "./key-store.js";
import type { Log } from "./log.js";
import { KnownError, plainError, showMessage } from "./notify.js";
import type { SignIn } from "./sign-in.js";

/** A connection that can be used. */
export interface Connection extends FoundConnection, Server {
  readonly endpoint: Endpoint;
}

/** A connection that was tried. It can be used, or it has a problem. */
export type Known = FoundConnection | Connection;

/** Where the origins of each key are stored, by its fingerprint. */
const ORIGINS = "keyOrigins";

export class Connections {
  readonly #known = new Map<string, Known>();
  readonly #looked = new vscode.EventEmitter<void>();
  readonly #confirmed = new vscode.EventEmitter<void>();
  #salt: string | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  /** Fires when VS Code has asked for models, which means that the modules are loaded and the settings are in use. */
  readonly onDidLook = this.#looked.event;
  /** The user has confirmed an address for a key. */
  readonly onDidConfirm = this.#confirmed.event;

  constructor(
    private readonly modules: Modules,
    private readonly context: vscode.ExtensionContext,
    private readonly log: Log,
    private readonly signIn: SignIn,
    private readonly keys: KeyStore,
  ) {}

  /** The connections that VS Code got models from. */
  get usable(): Connection[] {
    return [...this.#known.values()].filter(isUsable);
  }

  /** Returns all current connections. */
  async all(): Promise<Known[]> {
    const before = [...this.#known];
    this.#known.clear();
    // VS Code passes on a key from its dialog only when it asks for models.
    await vscode.lm.selectChatModels({ vendor: "sluice" });
    if (this.#known.size === 0) {
      before.forEach(([key, known]) => this.#known.set(key, known));
    }
    return [...this.#known.values()];
  }

  /** A server, and perhaps a key, that the user entered in VS Code's own dialog. Throws the problem with it. */
  async configured({ apiKey, baseUrl }: { readonly [name: string]: unknown }): Promise<Connection | undefined> {
    const key = typeof apiKey === "string" && apiKey.trim() !== "" ? apiKey.trim() : undefined;
    const hasKey = key !== undefined;
    const group = { ...(apiKey !== undefined && { hasKey }), ...(typeof baseUrl === "string" && { baseUrl }) };
    const [found] = await this.#find(group, key);
    return found && checked(found);
  }

  /** All connections that VS Code's dialog doesn't know about. `onProblem` gets the problems of the others. */
  async own(onProblem: (problem: Error) => void): Promise<Connection[]> {
    const all = await this.#find();
    all.filter((one) => !isUsable(one)).forEach((one) => onProblem(problemOf(one)));
    return all.filter(isUsable);
  }

  /** The gateway inside the extension, for users without a key. */
  async demo(): Promise<Connection> {
    return checked((await this.#work("demo")).found[0]!);
  }

  /** A connection with a key that isn't kept yet. The user has just entered the key for this address, and agreed to use it. */
  async entered(server: KeptKey): Promise<Connection> {
    return checked((await this.#work({ enter: server })).found[0]!);
  }

  /** Returns the origins that a key may be sent to, or that may be used without a key. */
  async originsOf(key: string | null): Promise<readonly string[]> {
    return (await this.#work({ origins: key })).origins;
  }

  /** Asks the user whether the address of a connection may be used. Returns whether it may. */
  async confirm(id: string, question: AddressQuestion): Promise<boolean> {
    if ((await showMessage(question)) === undefined) {
      return false;
    }
    await this.#work({ confirm: id });
    this.#confirmed.fire();
    return true;
  }

  async #find(group?: GroupSource, groupKey?: string): Promise<Known[]> {
    const { env } = hostProcess();
    const [signIn, storedKeys] = await Promise.all([this.signIn.current(), this.keys.read()]);
    const baseUrl = vscode.workspace.getConfiguration("sluice").get("baseUrl", "");
    const sources = {
      baseUrl,
      storedKeys,
      environment: {
        // The values stay here.
        keys: KEY_VARIABLES.filter((name) => env[name]?.trim()),
        defaultBaseUrl: baseUrl,
        ...(env["SLUICE_BASE_URL"] !== undefined && { baseUrl: env["SLUICE_BASE_URL"] }),
      },
      ...(signIn && { signIn: { label: signIn.label, origin: signIn.origin } }),
      ...(group && { group }),
    };
    return (await this.#work({ find: sources }, groupKey)).found;
  }

  /** The core reads and writes the origins of keys, so it does one thing after the other. */
  async #work(connections: ConnectionTask, groupKey?: string): Promise<ConnectionResult & { found: Known[] }> {
    const requests = await this.modules.requests();
    const working = this.#turn.then(() => requests.run<ConnectionResult>({ connections }, this.#shell(groupKey)));
    this.#turn = working.catch(() => undefined);
    const result = await working;
    result.log.forEach(([level, line]) => this.log[level](line));
    return { ...result, found: result.found.map((found) => this.#remember(found, groupKey)) };
  }

  #remember(found: FoundConnection, groupKey: string | undefined): Known {
    const { label, id, endpoint, notice } = found;
    const key = keyAt(found.key, groupKey);
    if (key !== undefined) {
      this.log.hide(key);
    }
    if (notice !== null) {
      void this.confirm(id, notice);
    }
    const demo: Server["fetch"] = async (url, init) => (await this.modules.demo()).fetch(url, init);
    const bearerFor = async (origin: string) =>
      origin !== endpoint?.origin ? undefined : found.key === "signIn" ? this.signIn.bearerFor(origin) : key;
    const known = endpoint === null ? found : { ...found, endpoint, fetch: found.isDemo ? demo : fetchFor(endpoint), bearerFor };
    if (!found.isTrial) {
      this.#known.set(`${label} ${id}`, known);
      this.#looked.fire();
    }
    return known;
  }

  #shell(groupKey: string | undefined): Shell {
    const { globalState } = this.context;
    const perform: Shell["perform"] = async (step) => {
      switch (step.type) {
        case "fingerprint": {
          const key = keyAt(step.key, groupKey) ?? "";
          return { fingerprint: { fingerprint: await this.#fingerprint(key), isSendable: isHeaderSafe(key) } };
        }
        case "readOrigins":
          return { origins: Object.entries(globalState.get<object>(ORIGINS, {})) };
        case "writeOrigins":
          await globalState.update(ORIGINS, Object.fromEntries(step.origins));
          return { done: true };
        default:
          return { done: false };
      }
    };
    return { perform };
  }

  /** Returns part of a salted hash: enough to recognize a key, but not enough to recover it. */
  async #fingerprint(key: string): Promise<string> {
    if (this.#salt === undefined) {
      this.#salt = this.context.globalState.get("salt", crypto.randomUUID());
      await this.context.globalState.update("salt", this.#salt);
    }
    const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(this.#salt + key));
    return [...new Uint8Array(hash, 0, 12)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }
}

export function isUsable(known: Known): known is Connection {
  return known.endpoint !== null;
}

function checked(known: Known): Connection {
  if (!isUsable(known)) {
    throw problemOf(known);
  }
  return known;
}

function problemOf({ problem, mustConfirm }: Known): Error {
  // A notification has asked the user to confirm the address.
  return mustConfirm ? new KnownError(problem ?? "") : plainError(problem ?? "");
}

/** Returns the key that the core means, which doesn't get to see most of them. */
function keyAt(key: SourceKey, groupKey: string | undefined): string | undefined {
  if (typeof key === "string") {
    return key === "group" ? groupKey : undefined;
  }
  return "text" in key ? key.text : hostProcess().env[key.variable]?.trim();
}
