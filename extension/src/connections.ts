// Where requests go and with which key. A key belongs to one origin: the one it was entered for, or first used with.

import * as vscode from "vscode";

import type { Endpoint } from "../../crates/sluice-wasm/js/src/core.js";
import type { Modules } from "./wasm.js";

export interface Connection {
  /** What a user calls it. */
  readonly label: string;
  readonly endpoint: Endpoint;
  readonly isDemo: boolean;
  /** The key, for its own origin and for no other. */
  bearerFor(origin: string): Promise<string | undefined>;
  fetch(url: string, init: RequestInit): Promise<Response>;
}

/** Remembers, without the key itself, which origin a key was first used with. */
const BINDINGS = "keyOrigins";
const MAX_BINDINGS = 100;

export class Connections {
  readonly #modules: Modules;
  readonly #context: vscode.ExtensionContext;
  readonly #log: vscode.LogOutputChannel;

  constructor(modules: Modules, context: vscode.ExtensionContext, log: vscode.LogOutputChannel) {
    this.#modules = modules;
    this.#context = context;
    this.#log = log;
  }

  /** What the user entered in VS Code's own dialog. */
  async configured(configuration: { readonly [name: string]: unknown }, silent: boolean): Promise<Connection | undefined> {
    const { apiKey, baseUrl } = configuration;
    if (typeof apiKey !== "string" || apiKey.trim() === "") {
      return undefined;
    }
    const address = typeof baseUrl === "string" && baseUrl.trim() !== "" ? baseUrl : settingsBaseUrl();
    const endpoint = (await this.#modules.requests()).parseEndpoint(address);
    return this.#withKey(new URL(endpoint.origin).host, endpoint, apiKey.trim(), silent);
  }

  /** A key in the environment of VS Code. Its address may come from there too. */
  async fromEnvironment(silent: boolean): Promise<Connection | undefined> {
    const environment = environmentVariables();
    const key = environment["AI_GATEWAY_API_KEY"]?.trim() || environment["VERCEL_OIDC_TOKEN"]?.trim();
    if (!key) {
      return undefined;
    }
    const fromEnvironment = environment["SLUICE_BASE_URL"]?.trim();
    const endpoint = (await this.#modules.requests()).parseEndpoint(fromEnvironment || settingsBaseUrl());
    // A container or a start script may set the environment, and with it redirect a key that it does not own.
    const mustAsk = fromEnvironment !== undefined && fromEnvironment !== "" && !isLoopback(endpoint.origin);
    return this.#withKey("environment", endpoint, key, silent, mustAsk);
  }

  /** The gateway inside the extension, for whoever has no key yet. */
  async demo(): Promise<Connection> {
    const gateway = await this.#modules.demo();
    return {
      label: vscode.l10n.t("Demo"),
      endpoint: { origin: "https://demo.invalid", baseUrl: "https://demo.invalid/v1" },
      isDemo: true,
      bearerFor: async () => undefined,
      fetch: (url, init) => gateway.fetch(url, init),
    };
  }

  async #withKey(
    label: string,
    endpoint: Endpoint,
    key: string,
    silent: boolean,
    mustAsk = false,
  ): Promise<Connection | undefined> {
    if (!(await this.#mayUse(key, endpoint.origin, silent, mustAsk))) {
      return undefined;
    }
    return {
      label,
      endpoint,
      isDemo: false,
      bearerFor: async (origin) => (origin === endpoint.origin ? key : undefined),
      fetch: (url, init) => fetch(url, init),
    };
  }

  /** Whether this key may go to this origin: it is bound to it, is bound to it now, or the user moves it there. */
  async #mayUse(key: string, origin: string, silent: boolean, mustAsk: boolean): Promise<boolean> {
    const bindings = this.#context.globalState.get<{ [fingerprint: string]: string }>(BINDINGS, {});
    const fingerprint = await fingerprintOf(key, this.#context);
    const bound = bindings[fingerprint];
    if (bound === origin) {
      return true;
    }
    if (bound !== undefined || mustAsk) {
      this.#log.warn(`A key is not sent to ${origin}: ${bound === undefined ? "nobody confirmed that address" : `it belongs to ${bound}`}.`);
      if (silent || !(await confirmOrigin(origin, bound))) {
        return false;
      }
    }
    const entries = Object.entries({ ...bindings, [fingerprint]: origin }).slice(-MAX_BINDINGS);
    await this.#context.globalState.update(BINDINGS, Object.fromEntries(entries));
    return true;
  }
}

async function confirmOrigin(origin: string, bound: string | undefined): Promise<boolean> {
  const send = vscode.l10n.t("Send the key there");
  const message =
    bound === undefined
      ? vscode.l10n.t("The environment of VS Code names {0} as the address for your key.", origin)
      : vscode.l10n.t("This key was used with {0} so far and would now go to {1}.", bound, origin);
  return (await vscode.window.showWarningMessage(message, { modal: true }, send)) === send;
}

/** The setting has application scope: no workspace can change it. */
export function settingsBaseUrl(): string {
  return vscode.workspace.getConfiguration("sluice").get<string>("baseUrl", "");
}

function environmentVariables(): { readonly [name: string]: string | undefined } {
  // The web worker host has no process.
  const { process } = globalThis as { process?: { env: { [name: string]: string | undefined } } };
  return process?.env ?? {};
}

function isLoopback(origin: string): boolean {
  return /^https?:\/\/(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/.test(origin);
}

/** Enough of a salted hash to know a key again, and not enough to find it. */
async function fingerprintOf(key: string, context: vscode.ExtensionContext): Promise<string> {
  let salt = context.globalState.get<string>("salt");
  if (salt === undefined) {
    salt = crypto.randomUUID();
    await context.globalState.update("salt", salt);
  }
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(salt + key));
  return [...new Uint8Array(hash, 0, 12)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
