// Sign-in with the Vercel CLI: turns its login into a token for the gateway, which is kept in VS Code's secret storage
// together with its origin and renewed before it expires. The core decides what Vercel is asked and what its responses
// mean. The CLI's own token is read when it is needed, sent only to Vercel's API, and never stored.

import * as vscode from "vscode";

import type { Endpoint, HttpResponse, NewSession, VercelSession, VercelStep, VercelTask } from "../../packages/loader/src/core.js";
import { get, type NoAnswer } from "../../packages/loader/src/http.js";
import { environment, hostProcess } from "./host-process.js";
import { errorName, type Log } from "./log.js";
import { localized } from "./messages.js";
import { pick, plainError, withProgress } from "./notify.js";
import type { Modules } from "./wasm.js";

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

/** Access to this machine, injected so that everything here can be tested. */
export interface Machine {
  /** The platform in Node's terms. Absent where there are no files, such as in a browser. */
  readonly platform: string | undefined;
  readonly environment: { readonly [name: string]: string | undefined };
  /** Returns null if there is no such file. */
  readFile(path: string): Promise<string | null>;
  fetch(url: string, init: RequestInit): Promise<Response>;
  /** Seconds since 1970. */
  now(): number;
}

export class SignIn {
  readonly #changed = new vscode.EventEmitter<void>();
  #session: Promise<Session | undefined> | undefined;
  #renewing: { readonly session: Session; readonly done: Promise<Session> } | undefined;
  #notBefore = 0;
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
    const now = this.machine.now();
    if (session.expiresAt - now > RENEW_BEFORE_S || (now < this.#notBefore && session.expiresAt > now)) {
      return session.token;
    }
    try {
      if (this.#renewing === undefined || !isSame(this.#renewing.session, session)) {
        this.#renewing = { session, done: this.#renew(session) };
      }
      return (await this.#renewing.done).token;
    } catch (error) {
      this.#notBefore = now + RETRY_AFTER_S;
      this.log.warn(`The Vercel token cannot be renewed: ${explain(error).detail}`);
      if (session.expiresAt > this.machine.now()) {
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
      description: team.slug === team.name ? "" : team.slug,
      ...(team.isCurrent ? { detail: vscode.l10n.t("Used by the Vercel CLI") } : {}),
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
    const token = await this.#token(project.id, team.id);
    await this.#store({
      ...endpoint,
      ...(team.id === null ? {} : { teamId: team.id }),
      teamName: team.name,
      projectId: project.id,
      projectName: project.name,
      ...token,
    });
    this.log.info(`Signed in with the Vercel CLI, for ${endpoint.origin}.`);
    this.#changed.fire();
    return `${team.name} / ${project.name}`;
  }

  async signOut(): Promise<void> {
    this.#session = Promise.resolve(undefined);
    await this.secrets.delete(SECRET);
    this.log.info("Signed out.");
    this.#changed.fire();
  }

  /** Asks Vercel on behalf of the CLI's user. Throws a SignInProblem. */
  async #ask(task: VercelTask): Promise<Extract<VercelStep, { done: unknown }>["done"]> {
    const requests = await this.modules.requests();
    const { platform, environment } = this.machine;
    const folders = platform === undefined ? undefined : requests.vercelFolders(platform, environment);
    // They are read every time, because the CLI renews its token.
    const pair = (folder: string) =>
      Promise.all([this.machine.readFile(`${folder}/auth.json`), this.machine.readFile(`${folder}/config.json`)]);
    const files = folders && (await Promise.all(folders.map(pair)));
    const answers: HttpResponse[] = [];
    let missing: NoAnswer | undefined;
    for (;;) {
      const failed = missing?.transport;
      const step = requests.vercel({ task, answers, now: this.machine.now(), ...(files && { files }), ...(failed && { failed }) });
      if ("done" in step) {
        return step.done;
      }
      if ("problem" in step) {
        throw new SignInProblem({ ...step.problem, detail: `${step.problem.detail} ${missing?.code ?? ""}` });
      }
      const { request, bearer } = step.send;
      const answer = await get({ bearerFor: async () => bearer, fetch: (url, init) => this.machine.fetch(url, init) }, request);
      if ("transport" in answer) {
        missing = answer;
      } else {
        answers.push(answer);
      }
    }
  }

  async #token(project: string, team: string | null): Promise<VercelToken> {
    return (await this.#ask({ token: [project, team] })).token!;
  }

  async #renew(session: Session): Promise<Session> {
    try {
      const renewed = { ...session, ...(await this.#token(session.projectId, session.teamId ?? null)) };
      this.log.hide(renewed.token);
      // If the user signed out or changed the project in the meantime, that counts.
      if (isSame(await this.#read(), session)) {
        await this.#store(renewed);
        this.log.debug("The Vercel token is renewed.");
      }
      return renewed;
    } finally {
      if (this.#renewing?.session === session) {
        this.#renewing = undefined;
      }
    }
  }

  #read(): Promise<Session | undefined> {
    return (this.#session ??= Promise.resolve(this.secrets.get(SECRET)).then((kept) => {
      const session = kept === undefined ? undefined : sessionOf(kept);
      if (session !== undefined) {
        this.log.hide(session.token);
      }
      return session;
    }));
  }

  async #store(session: Session): Promise<void> {
    this.log.hide(session.token);
    this.#session = Promise.resolve(session);
    this.#notBefore = 0;
    await this.secrets.store(SECRET, JSON.stringify(session));
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

type Problem = Extract<VercelStep, { problem: unknown }>["problem"];

/** The message is for logs; the text for the user is made from the code. It never contains a token. */
class SignInProblem extends Error {
  override readonly name = "SignInProblem";
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(`${problem.code} ${problem.detail}`.trimEnd());
    this.problem = problem;
    this.stack = this.message;
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
    environment: environment(["HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "XDG_DATA_HOME"]),
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
