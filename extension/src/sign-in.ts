// Sign-in with the Vercel CLI: turns its login into a token for the gateway, which is kept in VS Code's secret storage
// together with its origin and renewed before it expires. The core decides what Vercel is asked and what its responses
// mean. The CLI's own token is read when it is needed, sent only to Vercel's API, and never stored.

import * as vscode from "vscode";

import type { Message, NewSession, VercelAnswer, VercelSession, VercelTask } from "../../packages/loader/src/core.js";
import type { Modules } from "../../packages/loader/src/modules.js";
import { askVercel, type Machine, SignInProblem, type VercelResult } from "../../packages/loader/src/vercel.js";
import { environment, hostProcess } from "./host-process.js";
import { errorName, type Log } from "./log.js";
import { localized } from "./messages.js";
import { plainError } from "./notify.js";

const SECRET = "vercelSignIn";

type Session = VercelSession & { readonly stored: string };

export class SignIn {
  readonly #changed = new vscode.EventEmitter<void>();
  #stored: Promise<string | undefined> | undefined;
  #renewing: { readonly identity: string; readonly token: Promise<string> } | undefined;
  #failedAt = 0;
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
  async current(): Promise<Session | undefined> {
    const stored = await (this.#stored ??= Promise.resolve(this.secrets.get(SECRET)));
    const session = stored && (await this.modules.requests()).vercelSession(stored, this.machine.now(), this.#failedAt);
    if (!session) {
      return undefined;
    }
    this.log.hide(session.token);
    return { ...session, stored };
  }

  /** Returns the token, for its own origin only. Renews it if it expires soon. */
  async bearerFor(origin: string): Promise<string | undefined> {
    const session = await this.current();
    if (session === undefined) {
      throw plainError(vscode.l10n.t('You are signed out. Run "Sluice: Sign in with the Vercel CLI" to continue.'));
    }
    if (session.origin !== origin) {
      return undefined;
    }
    if (session.state === "valid") {
      return session.token;
    }
    try {
      if (this.#renewing?.identity !== session.identity) {
        this.#renewing = { identity: session.identity, token: this.#renew(session) };
      }
      return await this.#renewing.token;
    } catch (error) {
      this.#failedAt = this.machine.now();
      const { code, detail } = explain(error);
      this.log.warn(`The Vercel token cannot be renewed: ${detail}`);
      if (session.state === "expiresSoon") {
        return session.token;
      }
      throw plainError(vscode.l10n.t("The sign-in with the Vercel CLI has expired. {0}", localized([{ code, args: [] }])));
    }
  }

  /** Asks Vercel for a dialog, and keeps the session that it gives. */
  async ask(task: VercelTask): Promise<VercelAnswer> {
    try {
      const { teams, projects, session } = await this.#ask(task);
      if (session !== null) {
        await this.#store(session);
        this.log.info("Signed in with the Vercel CLI.");
        this.#changed.fire();
      }
      return { teams, projects, problem: null, command: null };
    } catch (error) {
      const { code, command, detail } = explain(error);
      this.log.warn(`Sign-in: ${detail}`);
      return { teams: [], projects: [], problem: code, command };
    }
  }

  /** Returns whether the user was signed in. */
  async signOut(): Promise<boolean> {
    const wasSignedIn = (await this.current()) !== undefined;
    this.#stored = Promise.resolve(undefined);
    await this.secrets.delete(SECRET);
    this.log.info("Signed out.");
    this.#changed.fire();
    return wasSignedIn;
  }

  async #ask(task: VercelTask): Promise<VercelResult> {
    return askVercel(await this.modules.requests(), this.machine, task);
  }

  async #renew({ identity, stored }: Session): Promise<string> {
    try {
      const renewed = (await this.#ask({ renew: stored })).session!;
      // If the user signed out or changed the project in the meantime, that counts.
      if ((await this.current())?.identity === identity) {
        await this.#store(renewed);
        this.log.debug("The Vercel token is renewed.");
      }
      return renewed.token;
    } finally {
      if (this.#renewing?.identity === identity) {
        this.#renewing = undefined;
      }
    }
  }

  async #store({ stored, token }: NewSession): Promise<void> {
    this.log.hide(token);
    this.#stored = Promise.resolve(stored);
    this.#failedAt = 0;
    await this.secrets.store(SECRET, stored);
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

/** Returns what the user can do about it, a command for a terminal that would help, and details for the log. */
function explain(error: unknown): { code: Message["code"]; command: string | null; detail: string } {
  return error instanceof SignInProblem
    ? { ...error.problem, detail: error.message }
    : { code: "vercelUnexpected", command: null, detail: errorName(error) };
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
