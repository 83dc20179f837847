// Where requests go and with which key. A key belongs to one origin: the one it was entered for, or first used with.

import * as vscode from "vscode";

import { KEY_VARIABLES } from "../../packages/loader/src/boundary.js";
import type { Endpoint } from "../../packages/loader/src/core.js";
import { fetchFor } from "../../packages/loader/src/direct-fetch.js";
import { isHeaderSafe, type Server } from "../../packages/loader/src/http.js";
import type { Modules } from "../../packages/loader/src/modules.js";
import { hostProcess } from "./host-process.js";
import type { Log } from "./log.js";
import { localized, parseEndpoint } from "./messages.js";
import { ask } from "./notify.js";
import { settingsBaseUrl } from "./settings.js";
import type { SignIn } from "./sign-in.js";

export interface Connection extends Server {
  /** The name that the user gave it. */
  readonly label: string;
  readonly endpoint: Endpoint;
  readonly isDemo: boolean;
}

/** A connection that was tried: it can be used, or there is a reason why not. */
export type Known = { readonly label: string } & ({ readonly connection: Connection } | { readonly problem: string });

/** Remembers which origin a key was first used with, without storing the key itself. */
const BINDINGS = "keyOrigins";
const MAX_BINDINGS = 100;

export class Connections {
  readonly #known = new Map<string, Known>();
  /** The last warning about a key that isn't sent. VS Code asks for models often. */
  #saidWithheld: string | undefined;
  readonly #looked = new vscode.EventEmitter<void>();
  /** Fires when VS Code has asked for models, which means that the modules are loaded and the settings are in use. */
  readonly onDidLook = this.#looked.event;

  constructor(
    private readonly modules: Modules,
    private readonly context: vscode.ExtensionContext,
    private readonly log: Log,
    private readonly signIn: SignIn,
  ) {}

  /** The connections that VS Code got models from. */
  get usable(): Connection[] {
    return [...this.#known.values()].flatMap((way) => ("connection" in way ? [way.connection] : []));
  }

  /** Returns all current connections. Asks the user if the address for a key has to be confirmed. */
  async all(): Promise<Known[]> {
    const before = [...this.#known];
    this.#known.clear();
    // The problem with its address is remembered.
    await this.fromEnvironment(false).catch(() => undefined);
    // VS Code passes on a key from its dialog only when it asks for models.
    await vscode.lm.selectChatModels({ vendor: "sluice" });
    if (this.#known.size === 0) {
      before.forEach(([key, known]) => this.#known.set(key, known));
    }
    return [...this.#known.values()];
  }

  /** A key that the user entered in VS Code's own dialog. */
  async configured(configuration: { readonly [name: string]: unknown }, silent: boolean): Promise<Connection | undefined> {
    const { apiKey, baseUrl } = configuration;
    if (typeof apiKey !== "string" || apiKey.trim() === "") {
      return undefined;
    }
    const address = typeof baseUrl === "string" && baseUrl.trim() !== "" ? baseUrl : settingsBaseUrl();
    const endpoint = await this.#parse(vscode.l10n.t("Manage Models"), address);
    return this.#withKey(new URL(endpoint.origin).host, endpoint, apiKey.trim(), silent);
  }

  /** The token of the Vercel CLI's user, for the address that it was created for. */
  async fromSignIn(): Promise<Connection | undefined> {
    const session = await this.signIn.current();
    if (session === undefined) {
      return undefined;
    }
    const endpoint = await this.#parse(session.label, settingsBaseUrl());
    if (endpoint.origin !== session.origin) {
      const problem = vscode.l10n.t(
        "You signed in for {0}, but the base URL in the settings is now at {1}. Sign in again, or change the setting back.",
        session.origin,
        endpoint.origin,
      );
      return this.#refused(session.label, problem);
    }
    return this.#found(session.label, endpoint, () => this.signIn.bearerFor(endpoint.origin));
  }

  /**
   * What VS Code's environment selects. Only variables that are set count, and the core decides which of the keys belongs to
   * which endpoint. A server on this machine may need no key.
   */
  async fromEnvironment(silent: boolean): Promise<Connection | undefined> {
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
      this.#refused(label, localized([found]));
      throw new Error(localized([found]));
    }
    const { endpoint, key, withheld, mustConfirm } = found;
    if (key !== null) {
      return this.#withKey(label, endpoint, env[key]?.trim() ?? "", silent, mustConfirm);
    }
    const problem = withheld === null ? undefined : localized([withheld]);
    if (problem !== undefined && problem !== this.#saidWithheld) {
      this.#saidWithheld = problem;
      this.log.warn(problem);
    }
    if (endpoint.isLoopback) {
      return this.#found(label, endpoint, async () => undefined);
    }
    return problem === undefined ? undefined : this.#refused(label, problem);
  }

  /** The gateway inside the extension, for users without a key. */
  async demo(): Promise<Connection> {
    const [gateway, requests] = await Promise.all([this.modules.demo(), this.modules.requests()]);
    const endpoint = parseEndpoint(requests, "https://demo.invalid/v1");
    return this.#found(vscode.l10n.t("Demo"), endpoint, async () => undefined, { isDemo: true, fetch: gateway.fetch.bind(gateway) });
  }

  /** Throws the problem with an address, and remembers it. */
  async #parse(label: string, address: string): Promise<Endpoint> {
    const requests = await this.modules.requests();
    try {
      return parseEndpoint(requests, address);
    } catch (error) {
      this.#refused(label, error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  #found(
    label: string,
    endpoint: Endpoint,
    bearer: () => Promise<string | undefined>,
    { isDemo, fetch } = { isDemo: false, fetch: fetchFor(endpoint.origin) },
  ): Connection {
    const bearerFor = async (origin: string) => (origin === endpoint.origin ? bearer() : undefined);
    const connection = { label, endpoint, isDemo, bearerFor, fetch };
    this.#remember({ label, connection }, endpoint.baseUrl);
    return connection;
  }

  #refused(label: string, problem: string): undefined {
    this.#remember({ label, problem });
  }

  #remember(known: Known, which = ""): void {
    this.#known.set(`${known.label} ${which}`, known);
    this.#looked.fire();
  }

  async #withKey(label: string, endpoint: Endpoint, key: string, silent: boolean, mustAsk = false): Promise<Connection | undefined> {
    this.log.hide(key);
    if (!isHeaderSafe(key)) {
      const problem = vscode.l10n.t(
        "The key contains a line break, a space or another character that is not allowed in a key, so nothing was sent. Copy the key again and enter it on one line.",
      );
      this.#refused(label, problem);
      throw new Error(problem);
    }
    if (!(await this.#mayUse(key, endpoint.origin, silent, mustAsk))) {
      return this.#refused(
        label,
        vscode.l10n.t(
          'The key is not sent to {0}, because you have not confirmed that address for it. Enter the key again in Manage Models, or run "Sluice: Refresh the Models" to confirm.',
          endpoint.origin,
        ),
      );
    }
    return this.#found(label, endpoint, async () => key);
  }

  /**
   * Returns whether this key may be sent to this origin: because it is bound to it or not bound yet, or
   * because the user moves it there.
   */
  async #mayUse(key: string, origin: string, silent: boolean, mustAsk: boolean): Promise<boolean> {
    const bindings = this.context.globalState.get<{ [fingerprint: string]: string }>(BINDINGS, {});
    const fingerprint = await fingerprintOf(key, this.context);
    const bound = bindings[fingerprint];
    if (bound === origin) {
      return true;
    }
    if (bound !== undefined || mustAsk) {
      this.log.warn(`A key is not sent to ${origin}: ${bound === undefined ? "nobody confirmed that address" : `it belongs to ${bound}`}.`);
      const send = vscode.l10n.t("Send the key there");
      const message =
        bound === undefined
          ? vscode.l10n.t("VS Code's environment specifies {0} as the address for your key.", origin)
          : vscode.l10n.t("So far, this key was used with {0}. Now it would be sent to {1}.", bound, origin);
      if (silent || (await ask(message, send)) !== send) {
        return false;
      }
    }
    const entries = Object.entries({ ...bindings, [fingerprint]: origin }).slice(-MAX_BINDINGS);
    await this.context.globalState.update(BINDINGS, Object.fromEntries(entries));
    return true;
  }
}

/** Returns part of a salted hash: enough to recognize a key, but not enough to recover it. */
async function fingerprintOf(key: string, context: vscode.ExtensionContext): Promise<string> {
  let salt = context.globalState.get<string>("salt");
  if (salt === undefined) {
    salt = crypto.randomUUID();
    await context.globalState.update("salt", salt);
  }
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(salt + key));
  return [...new Uint8Array(hash, 0, 12)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
