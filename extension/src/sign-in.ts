// Sign-in with the Vercel CLI: turns its login into a token for the gateway, which is kept in VS Code's secret storage
// together with its origin and renewed before it expires. The core decides what Vercel is asked, and when (vercel/sign_in.rs).
// The CLI's own token is read when it is needed, sent only to Vercel's API, and never stored.

import * as vscode from "vscode";

import type { SignInResult, SignInWork, VercelSession, WorkResult, WorkStep } from "../../packages/loader/src/core.js";
import { getUnmasked } from "../../packages/loader/src/http.js";
import type { Modules } from "../../packages/loader/src/modules.js";
import type { Requests } from "../../packages/loader/src/requests.js";
import { environment, hostProcess } from "./host-process.js";
import type { Log } from "./log.js";
import { localized } from "./messages.js";
import { plainError } from "./notify.js";

const SECRET = "vercelSignIn";

/** Access to this machine, injected so that everything here can be tested. */
export interface Machine {
  /** The platform in Node's terms. Absent where there are no files, such as in a browser. */
  readonly platform: string | undefined;
  readonly environment: { [name: string]: string };
  /** Returns null if there is no such file. */
  readFile(path: string): Promise<string | null>;
  fetch(url: string, init: RequestInit): Promise<Response>;
  /** Seconds since 1970. */
  now(): number;
}

export class SignIn {
  readonly #changed = new vscode.EventEmitter<void>();
  #stored: Promise<string | undefined> | undefined;
  /** The work that returns a token, by origin and session. It may take a while, because the token is renewed. */
  readonly #bearers = new Map<string, Promise<SignInResult>>();
  /** The user signed in or out, in this window or another. */
  readonly onDidChange = this.#changed.event;

  constructor(
    private readonly modules: Pick<Modules, "requests">,
    private readonly secrets: vscode.SecretStorage,
    private readonly log: Log,
    private readonly machine: Machine = thisMachine(),
  ) {
    secrets.onDidChange(({ key }) => {
      if (key === SECRET) {
        void this.#reread();
      }
    });
  }

  /** Returns the stored sign-in, or undefined while the user isn't signed in. */
  async current(): Promise<VercelSession | undefined> {
    const stored = await this.#read();
    const session = stored && (await this.modules.requests()).vercelSession(stored, this.machine.now());
    if (!session) {
      return undefined;
    }
    this.log.hide(session.token);
    return session;
  }

  /** Returns the token, for its own origin only. Renews it if it expires soon. */
  async bearerFor(origin: string): Promise<string | undefined> {
    const which = `${origin} ${(await this.current())?.identity}`;
    const running = this.#bearers.get(which) ?? this.work({ bearer: { origin } }).finally(() => this.#bearers.delete(which));
    this.#bearers.set(which, running);
    const { bearer, problem } = await running;
    if (problem !== null) {
      throw plainError(localized(problem));
    }
    return bearer ?? undefined;
  }

  /** Asks Vercel, or signs out. */
  async work(work: SignInWork): Promise<SignInResult> {
    const requests = await this.modules.requests();
    const { platform = null, environment } = this.machine;
    const task = { work, platform, environment, now: this.machine.now() };
    const result = await requests.run<SignInResult>({ signIn: task }, { perform: (step) => this.#perform(requests, step) });
    result.log.forEach(([level, line]) => this.log[level](line));
    if (result.changed) {
      this.#changed.fire();
    }
    return result;
  }

  async #perform(requests: Requests, step: WorkStep): Promise<WorkResult> {
    switch (step.type) {
      case "readSession":
        return { texts: [(await this.#read()) ?? null] };
      case "writeSession":
        this.#stored = Promise.resolve(step.session?.stored);
        if (step.session === null) {
          await this.secrets.delete(SECRET);
        } else {
          this.log.hide(step.session.token);
          await this.secrets.store(SECRET, step.session.stored);
        }
        return { done: true };
      case "readTexts":
        return { texts: await Promise.all(step.paths.map((path) => this.machine.readFile(path))) };
      case "send":
        return { received: [await getUnmasked(requests, this.machine, step.request, step.bearer)] };
      default:
        return { done: false };
    }
  }

  #read(): Promise<string | undefined> {
    return (this.#stored ??= Promise.resolve(this.secrets.get(SECRET)));
  }

  /** Another window may have signed in, signed out or renewed the token. */
  async #reread(): Promise<void> {
    const before = await this.current();
    this.#stored = undefined;
    if (before?.identity !== (await this.current())?.identity) {
      this.#changed.fire();
    }
  }
}

function thisMachine(): Machine {
  const { platform, versions } = hostProcess();
  return {
    platform: versions?.node === undefined ? undefined : platform,
    get environment() {
      return environment(["HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "XDG_DATA_HOME"]);
    },
    readFile: async (path) => {
      try {
        return new TextDecoder().decode(await vscode.workspace.fs.readFile(vscode.Uri.file(path)));
      } catch (error) {
        // A file that exists but can't be read isn't a login, but shows that the CLI is installed.
        return error instanceof vscode.FileSystemError && error.code === "NoPermissions" ? "" : null;
      }
    },
    fetch: (url, init) => fetch(url, init),
    now: () => Math.floor(Date.now() / 1000),
  };
}
