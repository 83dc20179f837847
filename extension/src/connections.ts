// Where requests go and with which key. A key belongs to the origin that it was entered for, or first used with, and to
// those that the user confirmed. Without a key, or without encryption, an address is used only after the user has agreed to
// that, unless it is on this machine.

import * as vscode from "vscode";

import { KEY_VARIABLES } from "../../packages/loader/src/boundary.js";
import type { Endpoint, KeptKey } from "../../packages/loader/src/core.js";
import { fetchFor } from "../../packages/loader/src/direct-fetch.js";
import { isHeaderSafe, type Server } from "../../packages/loader/src/http.js";
import type { Modules } from "../../packages/loader/src/modules.js";
import { hostProcess } from "./host-process.js";
import type { KeyStore } from "./key-store.js";
import type { Log } from "./log.js";
import { localized, parseEndpoint } from "./messages.js";
import { ask, KnownError, plainError, showWarning } from "./notify.js";
import { settingsBaseUrl } from "./settings.js";
import type { SignIn } from "./sign-in.js";

export interface Connection extends Server {
  /** The name that the user gave it. */
  readonly label: string;
  readonly endpoint: Endpoint;
  /** Identifies the key, or says that there is none. Lists of models are kept by it. */
  readonly fingerprint: string;
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
  /** The last warning about a key that isn't sent. VS Code asks for models often. */
  #saidWithheld: string | undefined;
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
  async configured(configuration: { readonly [name: string]: unknown }): Promise<Connection> {
    const { apiKey, baseUrl } = configuration;
    const key = typeof apiKey === "string" && apiKey.trim() !== "" ? apiKey.trim() : undefined;
    const address = typeof baseUrl === "string" && baseUrl.trim() !== "" ? baseUrl : settingsBaseUrl();
    const endpoint = await this.#parse(vscode.l10n.t("Manage Models"), address);
    const replaces = await this.#fingerprint(key);
    const name = new URL(endpoint.origin).host;
    const replacement = (await this.keys.list()).find((kept) => kept.replaces === replaces && kept.baseUrl === endpoint.baseUrl);
    return this.#withKey(name, endpoint, replacement?.key ?? key, {
      kept: replacement ?? { name, baseUrl: endpoint.baseUrl, replaces },
      isConfirmed: replacement !== undefined,
    });
  }

  /** All connections that VS Code's dialog doesn't know about. `onProblem` gets the problems of the others. */
  async own(onProblem: (problem: unknown) => void): Promise<Connection[]> {
    const kept = (await this.keys.list()).filter(({ replaces }) => replaces === undefined);
    const all = [this.#fromSignIn().then((session) => session ?? this.#fromEnvironment()), ...kept.map((one) => this.#fromStore(one))];
    const found = await Promise.all(all.map((one) => one.catch((problem: unknown) => void onProblem(problem))));
    return found.filter((one) => one !== undefined);
  }

  /** The gateway inside the extension, for users without a key. */
  async demo(): Promise<Connection> {
    const [gateway, requests] = await Promise.all([this.modules.demo(), this.modules.requests()]);
    const endpoint = parseEndpoint(requests, "https://demo.invalid/v1");
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

  async #fromStore(kept: KeptKey): Promise<Connection | undefined> {
    const endpoint = await this.#parse(kept.name, kept.baseUrl);
    return this.#withKey(kept.name, endpoint, kept.key, { kept, isConfirmed: true });
  }

  /** The token of the Vercel CLI's user, for the address that it was created for. */
  async #fromSignIn(): Promise<Connection | undefined> {
    const session = await this.signIn.current();
    if (session === undefined) {
      return undefined;
    }
    const { label, origin } = session;
    const endpoint = await this.#parse(label, settingsBaseUrl());
    if (endpoint.origin !== origin) {
      const problem = vscode.l10n.t(
        "You signed in for {0}, but the base URL in the settings is now at {1}. Sign in again, or change the setting back.",
        origin,
        endpoint.origin,
      );
      return this.#refused(label, { problem });
    }
    const fingerprint = await this.#fingerprint(label);
    return this.#found({ label, endpoint, fingerprint, isSignIn: true }, () => this.signIn.bearerFor(endpoint.origin));
  }

  /**
   * What VS Code's environment selects. Only variables that are set count, and the core decides which of the keys belongs to
   * which endpoint. A server on this machine may need no key.
   */
  async #fromEnvironment(): Promise<Connection | undefined> {
    const { env } = hostProcess();
    const keys = KEY_VARIABLES.filter((name) => env[name]?.trim());
    const requests = await this.modules.requests();
    const found = requests.environment({
      keys,
      defaultBaseUrl: settingsBaseUrl(),
      ...(env["SLUICE_BASE_URL"] === undefined ? {} : { baseUrl: env["SLUICE_BASE_URL"] }),
    });
    if (found === null) {
      return undefined;
    }
    const label = vscode.l10n.t("Environment");
    if ("code" in found) {
      return this.#refused(label, { problem: localized([found]) });
    }
    const { endpoint, key, withheld, mustConfirm } = found;
    if (key !== null) {
      return this.#withKey(label, endpoint, env[key]?.trim(), { isFromEnvironment: mustConfirm });
    }
    const problem = withheld === null ? undefined : localized([withheld]);
    if (problem !== undefined && problem !== this.#saidWithheld) {
      this.#saidWithheld = problem;
      this.log.warn(problem);
    }
    if (problem === undefined || endpoint.isLoopback) {
      return this.#withKey(label, endpoint, undefined, {});
    }
    return this.#refused(label, { problem });
  }

  /** Throws the problem with an address, and remembers it. */
  async #parse(label: string, address: string): Promise<Endpoint> {
    const requests = await this.modules.requests();
    try {
      return parseEndpoint(requests, address);
    } catch (error) {
      return this.#refused(label, { problem: error instanceof Error ? error.message : String(error) });
    }
  }

  #found(found: Parameters<typeof connection>[0], bearer: () => Promise<string | undefined>): Connection {
    const { label, endpoint, fingerprint } = found;
    const usable = connection(found, bearer);
    this.#remember({ label, connection: usable }, `${endpoint.baseUrl} ${fingerprint}`);
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

  async #withKey(
    label: string,
    endpoint: Endpoint,
    key: string | undefined,
    { kept, isConfirmed = false, isFromEnvironment = false }: { kept?: KeptKey; isConfirmed?: boolean; isFromEnvironment?: boolean },
  ): Promise<Connection> {
    if (key !== undefined) {
      this.log.hide(key);
      if (!isHeaderSafe(key)) {
        this.#refused(label, { problem: localized([{ code: "keyUnusable", args: [] }]) });
      }
    }
    const fingerprint = await this.#fingerprint(key);
    if (!isConfirmed) {
      await this.#checkOrigin(label, endpoint, fingerprint, key !== undefined, isFromEnvironment);
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
    const question = localized(permission.mustAsk);
    const send = hasKey ? vscode.l10n.t("Send the Key There") : vscode.l10n.t("Use This Address");
    const bindIf = async (answer: Promise<string | undefined>): Promise<boolean> => {
      if ((await answer) !== send) {
        return false;
      }
      await this.#bind(fingerprint, origin);
      this.#confirmed.fire();
      return true;
    };
    if (!this.#told.has(`${fingerprint} ${origin}`)) {
      this.#told.add(`${fingerprint} ${origin}`);
      this.log.warn(`Nothing is sent to ${origin}, because nobody confirmed that address.`);
      void bindIf(showWarning(`Sluice: ${question}`, send));
    }
    const problem = vscode.l10n.t(
      'Nothing is sent to {0}, because you have not confirmed that address. Run "Sluice: Refresh the Models" to confirm.',
      origin,
    );
    this.#refused(label, { problem, confirm: () => bindIf(ask(question, send)) }, `${origin} ${fingerprint}`);
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
  found: Pick<Connection, "label" | "endpoint" | "fingerprint"> & Partial<Connection>,
  bearer: () => Promise<string | undefined>,
): Connection {
  const { endpoint } = found;
  const bearerFor = async (origin: string) => (origin === endpoint.origin ? bearer() : undefined);
  return { isDemo: false, fetch: fetchFor(endpoint), ...found, bearerFor };
}
