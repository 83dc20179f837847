// Where requests go and with which key. A key belongs to the origin that it was entered for, or first used with, and to
// those that the user confirmed. Without a key, or without encryption, an address is used only after the user has agreed to
// that, unless it is on this machine.

import * as vscode from "vscode";

import { DEMO_BASE_URL, KEY_VARIABLES } from "../../packages/loader/src/boundary.js";
import type { ConnectionSource, DialogLevel, Endpoint, GroupSource, KeptKey, Message } from "../../packages/loader/src/core.js";
import { fetchFor } from "../../packages/loader/src/direct-fetch.js";
import { isHeaderSafe, type Server } from "../../packages/loader/src/http.js";
import type { Modules } from "../../packages/loader/src/modules.js";
import { hostProcess } from "./host-process.js";
import type { KeyStore } from "./key-store.js";
import type { Log } from "./log.js";
import { localized, parseEndpoint } from "./messages.js";
import { KnownError, plainError, showMessage } from "./notify.js";
import { settingsBaseUrl } from "./settings.js";
import type { SignIn } from "./sign-in.js";

export interface Connection extends Server {
  /** The name that the user gave it. */
  readonly label: string;
  readonly endpoint: Endpoint;
  /** Identifies the server and the key. */
  readonly id: string;
  readonly isDemo: boolean;
  /** Whether the key isn't kept yet, because it is being checked. */
  readonly isTrial?: boolean;
  /** Where a new key goes. Absent if the key can't be changed here, because it is in the environment or a sign-in. */
  readonly kept?: KeptKey;
  readonly isSignIn?: boolean;
}

/** A connection that was tried: it can be used, or there is a reason why not. */
export type Known = { readonly label: string } & ({ readonly connection: Connection } | Problem);

interface Problem {
  readonly problem: string;
  /** Asks the user whether an address may be used. Returns whether it may. */
  readonly confirm?: () => Promise<boolean>;
}

/** Remembers the origins that a key may be sent to, without storing the key itself, and those that are used without a key. */
const BINDINGS = "keyOrigins";
const MAX_BINDINGS = 100;

export class Connections {
  readonly #known = new Map<string, Known>();
  readonly #looked = new vscode.EventEmitter<void>();
  readonly #confirmed = new vscode.EventEmitter<void>();
  /** The keys and origins that a message has asked about. */
  readonly #told = new Set<string>();
  #salt: Promise<string> | undefined;
  /** The last warning in the log. VS Code asks for models often. */
  #warned: string | undefined;
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
    return [...this.#known.values()].flatMap((way) => ("connection" in way ? [way.connection] : []));
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
  async configured({ apiKey, baseUrl }: { readonly [name: string]: unknown }): Promise<Connection> {
    const key = typeof apiKey === "string" && apiKey.trim() !== "" ? apiKey.trim() : undefined;
    const fingerprint = await this.#fingerprint(key);
    const [source] = await this.#sources({ fingerprint, ...(typeof baseUrl === "string" && { baseUrl }) });
    return this.#use(source!, key);
  }

  /** All connections that VS Code's dialog doesn't know about. `onProblem` gets the problems of the others. */
  async own(onProblem: (problem: unknown) => void): Promise<Connection[]> {
    const all = (await this.#sources()).map((source) => this.#use(source).catch((problem: unknown) => void onProblem(problem)));
    return (await Promise.all(all)).filter((one) => one !== undefined);
  }

  /** The gateway inside the extension, for users without a key. */
  async demo(): Promise<Connection> {
    const [gateway, requests] = await Promise.all([this.modules.demo(), this.modules.requests()]);
    const endpoint = parseEndpoint(requests, DEMO_BASE_URL);
    const fetch = gateway.fetch.bind(gateway);
    return this.#found({ label: vscode.l10n.t("Demo"), endpoint, fingerprint: "demo", isDemo: true, fetch }, async () => undefined);
  }

  /** Returns the origins that a key may be sent to, or that may be used without a key. */
  async originsOf(key: string | undefined): Promise<readonly string[]> {
    return this.#origins(await this.#fingerprint(key));
  }

  /** A connection with a key that isn't kept yet. The user has just entered the key for this address, and agreed to use it. */
  async entered(kept: KeptKey): Promise<Connection> {
    const { name: label, baseUrl, key } = kept;
    const endpoint = parseEndpoint(await this.modules.requests(), baseUrl);
    const fingerprint = await this.#fingerprint(key);
    if (key !== undefined) {
      this.log.hide(key);
    }
    await this.#bind(fingerprint, endpoint.origin);
    return connection({ label, endpoint, fingerprint, kept, isTrial: true }, async () => key);
  }

  async #sources(group?: GroupSource): Promise<ConnectionSource[]> {
    const { env } = hostProcess();
    const [requests, signIn, storedKeys] = await Promise.all([this.modules.requests(), this.signIn.current(), this.keys.read()]);
    const baseUrl = settingsBaseUrl();
    return requests.connections({
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
    });
  }

  #found(found: Parameters<typeof connection>[0], bearer: () => Promise<string | undefined>): Connection {
    const usable = connection(found, bearer);
    this.#remember({ label: found.label, connection: usable }, usable.id);
    return usable;
  }

  #refused(label: string, problem: Problem, which?: string): never {
    this.#remember({ label, ...problem }, which);
    throw problem.confirm === undefined ? plainError(problem.problem) : new KnownError(problem.problem);
  }

  #remember(known: Known, which = ""): void {
    this.#known.set(`${known.label} ${which}`, known);
    this.#looked.fire();
  }

  /** Throws the problem with a connection, and remembers it. */
  async #use(source: ConnectionSource, groupKey?: string): Promise<Connection> {
    const label = localized([source.label]);
    const warning = source.warning && localized([source.warning]);
    if (warning !== null && warning !== this.#warned) {
      this.#warned = warning;
      this.log.warn(warning);
    }
    if ("Err" in source.endpoint) {
      return this.#refused(label, { problem: localized([source.endpoint.Err]) });
    }
    const endpoint = source.endpoint.Ok;
    if (source.key === "signIn") {
      const fingerprint = await this.#fingerprint(label);
      return this.#found({ label, endpoint, fingerprint, isSignIn: true }, () => this.signIn.bearerFor(endpoint.origin));
    }
    const { kept } = source;
    const values = { none: undefined, kept: kept?.key, group: groupKey };
    const key = typeof source.key === "string" ? values[source.key] : hostProcess().env[source.key.variable]?.trim();
    if (key !== undefined) {
      this.log.hide(key);
      if (!isHeaderSafe(key)) {
        this.#refused(label, { problem: localized([{ code: "keyUnusable", args: [] }]) });
      }
    }
    const fingerprint = await this.#fingerprint(key);
    if (!source.isConfirmed) {
      await this.#checkOrigin(label, endpoint, fingerprint, key !== undefined, source.isFromEnvironment);
    }
    return this.#found({ label, endpoint, fingerprint, ...(kept && { kept }) }, async () => key);
  }

  /** Throws if nothing may be sent to this origin with this key. A message says so once and lets the user confirm it. */
  async #checkOrigin(
    label: string,
    { origin, baseUrl }: Endpoint,
    fingerprint: string,
    hasKey: boolean,
    isFromEnvironment: boolean,
  ): Promise<void> {
    const key = { hasKey, origins: [...this.#origins(fingerprint)], isFromEnvironment };
    const permission = (await this.modules.requests()).permission(baseUrl, key);
    if (permission === "granted") {
      return;
    }
    if (permission === "firstUse") {
      return this.#bind(fingerprint, origin);
    }
    if ("refused" in permission) {
      return this.#refused(label, { problem: localized([permission.refused]) });
    }
    const { question, button, problem } = permission.mustAsk;
    const ask = async (level: DialogLevel, text: Message[]): Promise<boolean> => {
      if ((await showMessage({ level, text, buttons: [button] })) === undefined) {
        return false;
      }
      await this.#bind(fingerprint, origin);
      this.#confirmed.fire();
      return true;
    };
    if (!this.#told.has(`${fingerprint} ${origin}`)) {
      this.#told.add(`${fingerprint} ${origin}`);
      this.log.warn(`Nothing is sent to ${origin}, because nobody confirmed that address.`);
      void ask("warning", [{ code: "plain", args: ["Sluice:"] }, ...question]);
    }
    const confirm = (): Promise<boolean> => ask("question", question);
    this.#refused(label, { problem: localized([problem]), confirm }, `${origin} ${fingerprint}`);
  }

  /** Earlier versions stored one origin for each key. */
  #origins(fingerprint: string): readonly string[] {
    return [this.context.globalState.get<{ [fingerprint: string]: string | string[] }>(BINDINGS, {})[fingerprint] ?? []].flat();
  }

  async #bind(fingerprint: string, origin: string): Promise<void> {
    const origins = [...new Set([...this.#origins(fingerprint), origin])];
    const bindings = { ...this.context.globalState.get<object>(BINDINGS, {}), [fingerprint]: origins };
    await this.context.globalState.update(BINDINGS, Object.fromEntries(Object.entries(bindings).slice(-MAX_BINDINGS)));
  }

  /** Returns part of a salted hash: enough to recognize a key, but not enough to recover it. */
  async #fingerprint(key: string | undefined): Promise<string> {
    if (key === undefined) {
      return "none";
    }
    const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode((await (this.#salt ??= this.#readSalt())) + key));
    return [...new Uint8Array(hash, 0, 12)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  async #readSalt(): Promise<string> {
    const { globalState } = this.context;
    const salt = globalState.get<string>("salt") ?? crypto.randomUUID();
    await globalState.update("salt", salt);
    return salt;
  }
}

function connection(
  { fingerprint, ...found }: Pick<Connection, "label" | "endpoint"> & Partial<Connection> & { readonly fingerprint: string },
  bearer: () => Promise<string | undefined>,
): Connection {
  const { endpoint } = found;
  const bearerFor = async (origin: string) => (origin === endpoint.origin ? bearer() : undefined);
  return { id: `${endpoint.baseUrl} ${fingerprint}`, isDemo: false, fetch: fetchFor(endpoint), ...found, bearerFor };
}
