// What the Vercel CLI knows about its user, and what Vercel's API returns for it: teams, projects, tokens for the
// gateway. The CLI's own token is read when it is needed, sent only to Vercel's API, and never stored.

import { fromBase64 } from "../../packages/loader/src/base64.js";
import { get, isHeaderSafe } from "./http.js";

/** Neither a setting nor the environment can change this. */
const API_ORIGIN = "https://api.vercel.com";
const MAX_PAGES = 20;
/** A login that expires within this time counts as expired. */
const LOGIN_MARGIN_S = 30;

/** Access to this machine, injected so that everything here can be tested. */
export interface Machine {
  /** The platform in Node's terms. Absent where there are no files, such as in a browser. */
  readonly platform: string | undefined;
  readonly environment: { readonly [name: string]: string | undefined };
  /** Returns undefined if there is no such file. */
  readFile(path: string): Promise<string | undefined>;
  fetch(url: string, init: RequestInit): Promise<Response>;
  /** Seconds since 1970. */
  now(): number;
}

export type SignInProblemKind =
  /** The extension runs in a browser, where no CLI can have logged in. */
  | "noFiles"
  /** There is no sign of the CLI. */
  | "noCli"
  /** The CLI is installed but not logged in, or its file can't be read. */
  | "notLoggedIn"
  /** The login has expired, and only the CLI can renew it. */
  | "loginExpired"
  /** Vercel no longer accepts the login. */
  | "loginRefused"
  /** The login may not use this team or project. */
  | "forbidden"
  /** There is no project in this team, or the chosen one is gone. */
  | "noProject"
  | "network"
  /** Vercel responded with something unexpected. */
  | "server";

/** The message is for logs; the text for the user is made from the kind. It never contains a token. */
export class SignInProblem extends Error {
  override readonly name = "SignInProblem";
  readonly kind: SignInProblemKind;

  constructor(kind: SignInProblemKind, detail = "") {
    super(detail === "" ? kind : `${kind}: ${detail}`);
    this.kind = kind;
    this.stack = this.message;
  }
}

export interface Team {
  /** Absent for the user's personal account. */
  readonly id: string | undefined;
  readonly name: string;
  readonly slug: string;
  /** Whether the CLI uses this one. */
  readonly isCurrent: boolean;
}

export interface Project {
  readonly id: string;
  readonly name: string;
}

interface GatewayToken {
  readonly token: string;
  /** Seconds since 1970. */
  readonly expiresAt: number;
}

/**
 * Returns where the CLI may keep its files, in the order to search. On Windows it has moved them and left the old ones
 * behind.
 */
export function dataFolders(platform: string, environment: Machine["environment"]): string[] {
  const folders: (string | undefined)[] = [];
  const under = (base: string | undefined, ...names: string[]): void => {
    folders.push(base === undefined || base === "" ? undefined : [base.replace(/[\\/]+$/, ""), ...names].join("/"));
  };
  const cli = "com.vercel.cli";
  under(environment["XDG_DATA_HOME"], cli);
  const home = environment["HOME"] || environment["USERPROFILE"];
  if (platform === "win32") {
    const profile = environment["USERPROFILE"];
    const roaming = environment["APPDATA"] || (profile && `${profile}/AppData/Roaming`);
    const local = environment["LOCALAPPDATA"] || (profile && `${profile}/AppData/Local`);
    under(roaming, "xdg.data", cli);
    under(roaming, cli, "Data");
    under(local, cli);
    under(local, cli, "Data");
    under(roaming, cli);
  } else if (platform === "darwin") {
    under(home, "Library", "Application Support", cli);
    under(home, ".local", "share", cli);
  } else {
    under(home, ".local", "share", cli);
  }
  under(home, ".vercel");
  return [...new Set(folders.filter((folder) => folder !== undefined))];
}

/** Returns the CLI's token for one use. It is read every time, because the CLI renews it. */
export async function readLogin(machine: Machine): Promise<{ token: string; currentTeam: string | undefined }> {
  if (machine.platform === undefined) {
    throw new SignInProblem("noFiles");
  }
  let problem = new SignInProblem("noCli");
  for (const folder of dataFolders(machine.platform, machine.environment)) {
    const [auth, config] = await Promise.all([machine.readFile(`${folder}/auth.json`), machine.readFile(`${folder}/config.json`)]);
    if (auth === undefined) {
      if (config !== undefined && problem.kind === "noCli") {
        problem = new SignInProblem("notLoggedIn");
      }
      continue;
    }
    const { token, expiresAt } = fieldsOf(parsed(auth));
    if (typeof token !== "string" || !isHeaderSafe(token)) {
      problem = problem.kind === "loginExpired" ? problem : new SignInProblem("notLoggedIn");
    } else if (typeof expiresAt === "number" && expiresAt < machine.now() + LOGIN_MARGIN_S) {
      problem = new SignInProblem("loginExpired");
    } else {
      const { currentTeam } = fieldsOf(parsed(config ?? ""));
      return { token, currentTeam: typeof currentTeam === "string" ? currentTeam : undefined };
    }
  }
  throw problem;
}

/** Returns the user's personal account, if it can have projects, and the teams; the CLI's current one comes first. */
export async function listTeams(machine: Machine): Promise<Team[]> {
  const login = await readLogin(machine);
  const [user, found] = await Promise.all([
    ask(machine, login.token, "/v2/user").then((answer) => fieldsOf(fieldsOf(answer)["user"])),
    pages(machine, login.token, "/v2/teams", "teams", "until"),
  ]);
  const teams: Team[] = found.flatMap((team) => {
    const { id, name, slug } = fieldsOf(team);
    if (typeof id !== "string") {
      return [];
    }
    const short = typeof slug === "string" ? slug : id;
    return [{ id, name: typeof name === "string" && name !== "" ? name : short, slug: short, isCurrent: id === login.currentTeam }];
  });
  // New personal accounts own no projects; their first team does.
  if (user["version"] !== "northstar" || teams.length === 0) {
    const slug = typeof user["username"] === "string" ? user["username"] : "";
    const name = typeof user["name"] === "string" && user["name"] !== "" ? user["name"] : slug;
    teams.unshift({ id: undefined, name, slug, isCurrent: login.currentTeam === undefined });
  }
  return teams.sort((a, b) => Number(b.isCurrent) - Number(a.isCurrent));
}

export async function listProjects(machine: Machine, team: Pick<Team, "id">): Promise<Project[]> {
  const login = await readLogin(machine);
  const found = await pages(machine, login.token, withTeam("/v10/projects", team.id), "projects", "from");
  const projects = found.flatMap((project) => {
    const { id, name } = fieldsOf(project);
    return typeof id === "string" ? [{ id, name: typeof name === "string" ? name : id }] : [];
  });
  if (projects.length === 0) {
    throw new SignInProblem("noProject");
  }
  return projects;
}

/** Requests a token for the gateway on behalf of a project. */
export async function requestToken(machine: Machine, project: string, team: string | undefined): Promise<GatewayToken> {
  const login = await readLogin(machine);
  const path = withTeam(`/v1/projects/${encodeURIComponent(project)}/token?source=vercel-oidc-refresh`, team);
  const { token } = fieldsOf(await ask(machine, login.token, path, "POST"));
  if (typeof token !== "string" || !isHeaderSafe(token)) {
    throw new SignInProblem("server", "Vercel's answer has no token in it");
  }
  // Vercel's tokens are valid for twelve hours. A token without an expiry date is renewed much sooner.
  return { token, expiresAt: expiryOf(token) ?? machine.now() + 3600 };
}

/** Returns when a JSON Web Token expires, in seconds since 1970. Verifying it is up to the server. */
export function expiryOf(token: string): number | undefined {
  const payload = token.split(".")[1];
  if (payload === undefined) {
    return undefined;
  }
  try {
    const bytes = fromBase64(payload.replace(/-/g, "+").replace(/_/g, "/"));
    const { exp } = fieldsOf(JSON.parse(new TextDecoder().decode(bytes)));
    return typeof exp === "number" && Number.isFinite(exp) && exp > 0 ? exp : undefined;
  } catch {
    return undefined;
  }
}

async function pages(machine: Machine, token: string, path: string, field: string, cursor: string): Promise<unknown[]> {
  const found: unknown[] = [];
  let next: unknown;
  for (let page = 0; page < MAX_PAGES; page++) {
    const at = typeof next === "number" || typeof next === "string" ? `&${cursor}=${encodeURIComponent(next)}` : "";
    const answer = fieldsOf(await ask(machine, token, `${path}${path.includes("?") ? "&" : "?"}limit=100${at}`));
    const items = answer[field];
    found.push(...(Array.isArray(items) ? (items as unknown[]) : []));
    next = fieldsOf(answer["pagination"])["next"];
    if (next === null || next === undefined) {
      break;
    }
  }
  return found;
}

async function ask(machine: Machine, token: string, path: string, method = "GET"): Promise<unknown> {
  const endpoint = { origin: API_ORIGIN, baseUrl: API_ORIGIN, isLoopback: false, isVercel: true };
  const vercel = { endpoint, bearerFor: async () => token, fetch: (url: string, init: RequestInit) => machine.fetch(url, init) };
  const answer = await get(vercel, { method, url: API_ORIGIN + path, headers: [] });
  if ("transport" in answer) {
    const { transport, cause } = answer;
    // The error's own text may quote the request.
    throw transport === "tooLarge" || transport === "redirect"
      ? new SignInProblem("server", transport)
      : new SignInProblem("network", codeOf(cause));
  }
  switch (answer.status) {
    case 200:
      return parsed(answer.body);
    case 401:
      throw new SignInProblem("loginRefused");
    case 403: {
      const { code, invalidToken } = fieldsOf(fieldsOf(parsed(answer.body))["error"]);
      throw new SignInProblem(invalidToken === true || code === "invalid_token" ? "loginRefused" : "forbidden");
    }
    case 404:
      throw new SignInProblem("noProject");
    default:
      throw new SignInProblem("server", `HTTP ${answer.status}`);
  }
}

function withTeam(path: string, team: string | undefined): string {
  return team === undefined ? path : `${path}${path.includes("?") ? "&" : "?"}teamId=${encodeURIComponent(team)}`;
}

/** Returns a code such as `ENOTFOUND`, which Node puts into the cause. */
function codeOf(error: unknown): string {
  const { code } = fieldsOf(fieldsOf(error)["cause"]);
  return typeof code === "string" && /^[A-Z0-9_]+$/.test(code) ? code : "";
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json.replace(/^\uFEFF/, ""));
  } catch {
    return undefined;
  }
}

function fieldsOf(value: unknown): { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null ? (value as { [name: string]: unknown }) : {};
}
