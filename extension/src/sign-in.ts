// Sign-in with the Vercel CLI: turns its login into a token for the gateway, which is kept in VS Code's secret storage
// together with its origin and renewed before it expires. The core decides what Vercel is asked and what its responses
// mean. The CLI's own token is read when it is needed, sent only to Vercel's API, and never stored.

import * as vscode from "vscode";

import type { Endpoint, NewSession, VercelSession, VercelTask } from "../../packages/loader/src/core.js";
import type { Modules } from "../../packages/loader/src/modules.js";
import { askVercel, type Machine, SignInProblem, type VercelResult } from "../../packages/loader/src/vercel.js";
import { environment, hostProcess } from "./host-process.js";
import { errorName, type Log } from "./log.js";
import { localized } from "./messages.js";
import { pick, plainError, withProgress } from "./notify.js";

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
      this.log.warn(`The Vercel token cannot be renewed: ${explain(error).detail}`);
      if (session.state === "expiresSoon") {
        return session.token;
      }
      throw plainError(vscode.l10n.t("The sign-in with the Vercel CLI has expired. {0}", explain(error).text));
    }
  }

  /** Asks for a team and a project. Returns undefined if the user cancels. Throws a SignInProblem. */
  async signIn(endpoint: Endpoint): Promise<string | undefined> {
    const title = vscode.l10n.t("Sign in with the Vercel CLI");
    const { teams } = await withProgress(vscode.l10n.t("Asking Vercel for your teams"), () => this.#ask("teams"));
    const teamRows = teams.map((team) => ({
      label: team.name,
      description: team.slug,
      detail: team.isCurrent ? vscode.l10n.t("Used by the Vercel CLI") : "",
      team,
    }));
    const placeholder = vscode.l10n.t("Whose credits should be used?");
    const team = (teams.length === 1 ? teamRows[0] : await pick(teamRows, title, placeholder))?.team;
    if (team === undefined) {
      return undefined;
    }
    const { projects } = await withProgress(vscode.l10n.t("Asking Vercel for the projects of {0}", team.name), () =>
      this.#ask({ projects: team.id }),
    );
    const rows = projects.map((project) => ({ label: project.name, project }));
    const which = vscode.l10n.t("Which project of {0} should the requests belong to?", team.name);
    const project = (await pick(rows, title, which))?.project;
    if (project === undefined) {
      return undefined;
    }
    const { origin, baseUrl } = endpoint;
    const choice = { origin, baseUrl, teamId: team.id, teamName: team.name, projectId: project.id, projectName: project.name };
    await this.#store((await this.#ask({ signIn: choice })).session!);
    this.log.info(`Signed in with the Vercel CLI, for ${origin}.`);
    this.#changed.fire();
    return `${team.name} / ${project.name}`;
  }

  async signOut(): Promise<void> {
    this.#stored = Promise.resolve(undefined);
    await this.secrets.delete(SECRET);
    this.log.info("Signed out.");
    this.#changed.fire();
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
export function explain(error: unknown): { text: string; command: string | null; detail: string } {
  const { code, command } = error instanceof SignInProblem ? error.problem : { code: "vercelUnexpected" as const, command: null };
  const detail = error instanceof SignInProblem ? error.message : errorName(error);
  return { text: localized([{ code, args: [] }]), command, detail };
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
