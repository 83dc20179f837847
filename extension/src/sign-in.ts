// Sign-in with the Vercel CLI: turns its login into a token for the gateway, which is kept in VS Code's secret storage
// together with its origin and renewed before it expires.

import * as vscode from "vscode";

import type { Endpoint } from "../../packages/loader/src/core.js";
import { hostProcess } from "./host-process.js";
import type { Log } from "./log.js";
import { pick, plainError, withProgress } from "./notify.js";
import {
  listProjects,
  listTeams,
  type Machine,
  type Project,
  requestToken,
  SignInProblem,
  type SignInProblemKind,
  type Team,
} from "./vercel-cli.js";

const SECRET = "vercelSignIn";
/** A token is renewed if it expires within this time. */
const RENEW_BEFORE_S = 15 * 60;
/** After a failure, a token that is still valid is used for this long before Vercel is asked again. */
const RETRY_AFTER_S = 60;

/** What is stored. */
interface Session {
  readonly origin: string;
  readonly baseUrl: string;
  readonly teamId?: string;
  readonly teamName: string;
  readonly projectId: string;
  readonly projectName: string;
  readonly token: string;
  /** Seconds since 1970. */
  readonly expiresAt: number;
}

export class SignIn {
  readonly #secrets: vscode.SecretStorage;
  readonly #machine: Machine;
  readonly #log: Log;
  readonly #changed = new vscode.EventEmitter<void>();
  #session: Promise<Session | undefined> | undefined;
  #renewing: { readonly session: Session; readonly done: Promise<Session> } | undefined;
  #notBefore = 0;
  /** The user signed in or out, in this window or another. */
  readonly onDidChange = this.#changed.event;

  constructor(secrets: vscode.SecretStorage, log: Log, machine: Machine = thisMachine()) {
    this.#secrets = secrets;
    this.#log = log;
    this.#machine = machine;
    secrets.onDidChange(({ key }) => {
      if (key === SECRET) {
        void this.#reread();
      }
    });
  }

  /** Returns the team and project, or undefined while the user isn't signed in. */
  async current(): Promise<{ label: string; origin: string } | undefined> {
    const session = await this.#read();
    return session && { label: `${session.teamName} / ${session.projectName}`, origin: session.origin };
  }

  /** Returns the token, for its own origin only. Renews it if it expires soon. */
  async bearerFor(origin: string): Promise<string | undefined> {
    const session = await this.#read();
    if (session === undefined) {
      throw plainError(vscode.l10n.t('You are signed out. Run "Sluice: Sign in with the Vercel CLI" to continue.'));
    }
    if (session.origin !== origin) {
      return undefined;
    }
    const now = this.#machine.now();
    if (session.expiresAt - now > RENEW_BEFORE_S || (now < this.#notBefore && session.expiresAt > now)) {
      return session.token;
    }
    try {
      if (this.#renewing === undefined || !isSame(this.#renewing.session, session)) {
        this.#renewing = { session, done: this.#renew(session) };
      }
      return (await this.#renewing.done).token;
    } catch (error) {
      const problem = problemOf(error);
      this.#notBefore = now + RETRY_AFTER_S;
      this.#log.warn(`The Vercel token cannot be renewed: ${problem.message}`);
      if (session.expiresAt > this.#machine.now()) {
        return session.token;
      }
      throw plainError(vscode.l10n.t("The sign-in with the Vercel CLI has expired. {0}", explain(problem.kind)));
    }
  }

  /** Asks for a team and a project. Returns undefined if the user cancels. Throws a SignInProblem. */
  async signIn(endpoint: Endpoint): Promise<string | undefined> {
    const machine = this.#machine;
    const teams = await withProgress(vscode.l10n.t("Asking Vercel for your teams"), () => listTeams(machine));
    const team = teams.length === 1 ? teams[0] : await pickTeam(teams);
    if (team === undefined) {
      return undefined;
    }
    const projects = await withProgress(vscode.l10n.t("Asking Vercel for the projects of {0}", team.name), () =>
      listProjects(machine, team),
    );
    const project = await pickProject(projects, team);
    if (project === undefined) {
      return undefined;
    }
    const { token, expiresAt } = await requestToken(machine, project.id, team.id);
    await this.#store({
      ...endpoint,
      ...(team.id === undefined ? {} : { teamId: team.id }),
      teamName: team.name,
      projectId: project.id,
      projectName: project.name,
      token,
      expiresAt,
    });
    this.#log.info(`Signed in with the Vercel CLI, for ${endpoint.origin}.`);
    this.#changed.fire();
    return `${team.name} / ${project.name}`;
  }

  async signOut(): Promise<void> {
    this.#session = Promise.resolve(undefined);
    await this.#secrets.delete(SECRET);
    this.#log.info("Signed out.");
    this.#changed.fire();
  }

  async #renew(session: Session): Promise<Session> {
    try {
      const token = await requestToken(this.#machine, session.projectId, session.teamId);
      const renewed = { ...session, ...token };
      this.#log.hide(renewed.token);
      // If the user signed out or changed the project in the meantime, that counts.
      if (isSame(await this.#read(), session)) {
        await this.#store(renewed);
        this.#log.debug("The Vercel token is renewed.");
      }
      return renewed;
    } finally {
      if (this.#renewing?.session === session) {
        this.#renewing = undefined;
      }
    }
  }

  #read(): Promise<Session | undefined> {
    return (this.#session ??= Promise.resolve(this.#secrets.get(SECRET)).then((kept) => {
      const session = kept === undefined ? undefined : sessionOf(kept);
      if (session !== undefined) {
        this.#log.hide(session.token);
      }
      return session;
    }));
  }

  async #store(session: Session): Promise<void> {
    this.#log.hide(session.token);
    this.#session = Promise.resolve(session);
    this.#notBefore = 0;
    await this.#secrets.store(SECRET, JSON.stringify(session));
  }

  /** Another window may have signed in, signed out or renewed the token. */
  async #reread(): Promise<void> {
    const before = await this.#read();
    this.#session = undefined;
    if (!isSame(before, await this.#read())) {
      this.#changed.fire();
    }
  }
}

function isSame(one: Session | undefined, other: Session | undefined): boolean {
  return (
    one?.origin === other?.origin && one?.baseUrl === other?.baseUrl && one?.projectId === other?.projectId && one?.teamId === other?.teamId
  );
}

/** Returns the stored session, unless it is damaged or was written by another version. */
function sessionOf(kept: string): Session | undefined {
  try {
    const session = JSON.parse(kept) as Session;
    const isWhole = [session.origin, session.baseUrl, session.projectId, session.token].every((field) => typeof field === "string");
    return isWhole && typeof session.expiresAt === "number" ? session : undefined;
  } catch {
    return undefined;
  }
}

async function pickTeam(teams: readonly Team[]): Promise<Team | undefined> {
  const items = teams.map((team) => ({
    label: team.name,
    description: team.slug === team.name ? "" : team.slug,
    ...(team.isCurrent ? { detail: vscode.l10n.t("Used by the Vercel CLI") } : {}),
    team,
  }));
  const placeholder = vscode.l10n.t("Whose credits should be used?");
  return (await pick(items, { title: TITLE(), placeholder }))?.team;
}

async function pickProject(projects: readonly Project[], team: Team): Promise<Project | undefined> {
  const items = projects.map((project) => ({ label: project.name, project }));
  const placeholder = vscode.l10n.t("Which project of {0} should the requests belong to?", team.name);
  return (await pick(items, { title: TITLE(), placeholder }))?.project;
}

const TITLE = (): string => vscode.l10n.t("Sign in with the Vercel CLI");

/** Returns what the user can do about it. */
export function explain(kind: SignInProblemKind): string {
  switch (kind) {
    case "noFiles":
      return vscode.l10n.t("The Vercel CLI is not available in a browser window. Add an API key instead: Chat, Manage Models, Sluice.");
    case "noCli":
      return vscode.l10n.t(
        "The Vercel CLI is not installed on this machine, or was never used. Install it, run `vercel login` in a terminal, then try again.",
      );
    case "notLoggedIn":
      return vscode.l10n.t("The Vercel CLI isn't logged in. Run `vercel login` in a terminal, then try again.");
    case "loginExpired":
      return vscode.l10n.t("The Vercel CLI's login has expired. Run `vercel whoami` in a terminal, which renews it, then try again.");
    case "loginRefused":
      return vscode.l10n.t("Vercel no longer accepts the Vercel CLI's login. Run `vercel login` in a terminal, then try again.");
    case "forbidden":
      return vscode.l10n.t(
        "Your Vercel account isn't allowed to create tokens for this team or project. Choose another one, or ask the team's owner.",
      );
    case "noProject":
      return vscode.l10n.t(
        "There is no such project in this team. Create one on vercel.com (an empty one is enough) or choose another team.",
      );
    case "network":
      return vscode.l10n.t("Vercel cannot be reached. Check the network and the proxy settings, then try again.");
    case "server":
      return vscode.l10n.t("Vercel sent an unexpected response. Try again in a minute.");
  }
}

/** A terminal command that would help. */
export function remedy(kind: SignInProblemKind): string | undefined {
  switch (kind) {
    case "notLoggedIn":
    case "loginRefused":
      return "vercel login";
    case "loginExpired":
      return "vercel whoami";
    default:
      return undefined;
  }
}

export function problemOf(error: unknown): SignInProblem {
  return error instanceof SignInProblem ? error : new SignInProblem("server", error instanceof Error ? error.name : "");
}

function thisMachine(): Machine {
  const { platform, versions, env } = hostProcess();
  return {
    platform: versions?.node === undefined ? undefined : platform,
    environment: env,
    readFile: async (path) => {
      try {
        return new TextDecoder().decode(await vscode.workspace.fs.readFile(vscode.Uri.file(path)));
      } catch (error) {
        // A file that exists but can't be read isn't a login, but shows that the CLI is installed.
        return error instanceof vscode.FileSystemError && error.code === "NoPermissions" ? "" : undefined;
      }
    },
    fetch: (url, init) => fetch(url, init),
    now: () => Math.floor(Date.now() / 1000),
  };
}
