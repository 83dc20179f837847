import assert from "node:assert/strict";
import { test } from "node:test";

import { dataFolders, expiryOf, listProjects, listTeams, type Machine, readLogin, requestToken, SignInProblem } from "../src/vercel-cli.js";

const NOW = 1_700_000_000;
const CLI_TOKEN = "cli-token-canary";

/** `routes` maps `METHOD path?query` to a response, `files` a path to its text. */
function machine(files: { [path: string]: string }, routes: { [route: string]: unknown } = {}, platform: string | undefined = "linux") {
  const asked: { url: string; authorization: string }[] = [];
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    asked.push({ url, authorization: new Headers(init.headers).get("authorization") ?? "" });
    const { pathname, search, origin } = new URL(url);
    assert.equal(origin, "https://api.vercel.com");
    assert.equal(init.redirect, "manual");
    const answer = routes[`${init.method} ${pathname}${search}`];
    if (answer instanceof Error) {
      throw answer;
    }
    if (answer instanceof Response) {
      return answer;
    }
    return answer === undefined ? new Response("{}", { status: 404 }) : new Response(JSON.stringify(answer));
  };
  const it: Machine = {
    platform,
    environment: { HOME: "/home/me" },
    readFile: async (path) => files[path],
    fetch,
    now: () => NOW,
  };
  return Object.assign(it, { asked });
}

const folder = "/home/me/.local/share/com.vercel.cli";
const loggedIn = { [`${folder}/auth.json`]: JSON.stringify({ token: CLI_TOKEN, expiresAt: NOW + 3600, refreshToken: "r" }) };

async function kindOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => "nothing was thrown",
    (error: unknown) => error,
  );
  assert(error instanceof SignInProblem, String(error));
  for (const text of [error.message, error.stack ?? "", String(error)]) {
    assert(!text.includes(CLI_TOKEN), text);
  }
  return error.kind;
}

test("the CLI's folders on each system", () => {
  const cases: [string, { [name: string]: string }, string[]][] = [
    ["linux", { HOME: "/home/me" }, ["/home/me/.local/share/com.vercel.cli", "/home/me/.vercel"]],
    [
      "linux",
      { HOME: "/home/me", XDG_DATA_HOME: "/data/" },
      ["/data/com.vercel.cli", "/home/me/.local/share/com.vercel.cli", "/home/me/.vercel"],
    ],
    [
      "darwin",
      { HOME: "/Users/me" },
      ["/Users/me/Library/Application Support/com.vercel.cli", "/Users/me/.local/share/com.vercel.cli", "/Users/me/.vercel"],
    ],
    [
      "win32",
      { USERPROFILE: "C:\\Users\\me", APPDATA: "C:\\Users\\me\\AppData\\Roaming", LOCALAPPDATA: "C:\\Users\\me\\AppData\\Local" },
      [
        "C:\\Users\\me\\AppData\\Roaming/xdg.data/com.vercel.cli",
        "C:\\Users\\me\\AppData\\Roaming/com.vercel.cli/Data",
        "C:\\Users\\me\\AppData\\Local/com.vercel.cli",
        "C:\\Users\\me\\AppData\\Local/com.vercel.cli/Data",
        "C:\\Users\\me\\AppData\\Roaming/com.vercel.cli",
        "C:\\Users\\me/.vercel",
      ],
    ],
    ["linux", {}, []],
  ];
  for (const [platform, environment, expected] of cases) {
    assert.deepEqual(dataFolders(platform, environment), expected);
  }
});

test("a login is found, or the reason why not is reported", async () => {
  const auth = (value: object, at = folder) => ({ [`${at}/auth.json`]: JSON.stringify(value) });
  const cases: [string, { [path: string]: string }, string][] = [
    ["nothing there", {}, "noCli"],
    ["used before, logged out", { [`${folder}/config.json`]: "{}" }, "notLoggedIn"],
    ["an empty login", auth({}), "notLoggedIn"],
    ["a token of another type", auth({ token: 5 }), "notLoggedIn"],
    ["a token that would break a header", auth({ token: "a\r\nx-evil: 1" }), "notLoggedIn"],
    ["not JSON", { [`${folder}/auth.json`]: `{"token":"${CLI_TOKEN}` }, "notLoggedIn"],
    ["not an object", { [`${folder}/auth.json`]: "null" }, "notLoggedIn"],
    ["over", auth({ token: CLI_TOKEN, expiresAt: NOW - 1 }), "loginExpired"],
    ["over in a moment", auth({ token: CLI_TOKEN, expiresAt: NOW + 10 }), "loginExpired"],
    [
      "over in the new place, empty in the old",
      { ...auth({ token: CLI_TOKEN, expiresAt: 1 }), ...auth({}, "/home/me/.vercel") },
      "loginExpired",
    ],
  ];
  for (const [what, files, expected] of cases) {
    assert.equal(await kindOf(readLogin(machine(files))), expected, what);
  }
  assert.equal(await kindOf(readLogin({ ...machine(loggedIn), platform: undefined })), "noFiles");

  const found = async (files: { [path: string]: string }) => (await readLogin(machine(files))).token;
  assert.equal(await found(loggedIn), CLI_TOKEN);
  assert.equal(await found(auth({ token: "old-style" })), "old-style");
  assert.equal(await found({ [`${folder}/auth.json`]: `\uFEFF${JSON.stringify({ token: "with-a-mark" })}` }), "with-a-mark");
  // The CLI has moved its files once and left the old ones behind.
  assert.equal(await found({ ...auth({ token: "frozen", expiresAt: 1 }), ...auth({ token: "live" }, "/home/me/.vercel") }), "live");
});

test("teams: the CLI's own first, the account itself only where it has projects", async () => {
  const teams = { teams: [{ id: "team_a", name: "Alpha", slug: "alpha" }, { id: "team_b", name: null, slug: "beta" }, { nonsense: 1 }] };
  const ask = async (user: object, currentTeam?: string) =>
    (
      await listTeams(
        machine(
          { ...loggedIn, [`${folder}/config.json`]: JSON.stringify({ currentTeam }) },
          { "GET /v2/user": { user }, "GET /v2/teams?limit=100": teams },
        ),
      )
    ).map(({ id, name, isCurrent }) => `${id} ${name}${isCurrent ? " *" : ""}`);
  assert.deepEqual(await ask({ username: "me", name: "Me", version: "northstar" }, "team_b"), ["team_b beta *", "team_a Alpha"]);
  assert.deepEqual(await ask({ username: "me" }), ["undefined me *", "team_a Alpha", "team_b beta"]);
});

test("projects are read page by page", async () => {
  const it = machine(loggedIn, {
    "GET /v10/projects?teamId=team%2Fa&limit=100": { projects: [{ id: "prj_1", name: "one" }], pagination: { next: 7 } },
    "GET /v10/projects?teamId=team%2Fa&limit=100&from=7": { projects: [{ id: "prj_2", name: "two" }], pagination: { next: null } },
  });
  assert.deepEqual(await listProjects(it, { id: "team/a" }), [
    { id: "prj_1", name: "one" },
    { id: "prj_2", name: "two" },
  ]);
  assert(it.asked.every(({ authorization }) => authorization === `Bearer ${CLI_TOKEN}`));

  const none = machine(loggedIn, { "GET /v10/projects?limit=100": { projects: [] } });
  assert.equal(await kindOf(listProjects(none, { id: undefined })), "noProject");
  const endless = machine(loggedIn, {});
  endless.fetch = async () => new Response(JSON.stringify({ projects: [{ id: "p" }], pagination: { next: 1 } }));
  assert.equal((await listProjects(endless, { id: undefined })).length, 20, "a server that never ends its list is not asked for ever");
});

test("a token for the gateway has an expiry date", async () => {
  const route = "POST /v1/projects/prj_1/token?source=vercel-oidc-refresh&teamId=team_a";
  const token = jwt({ exp: NOW + 43_200 });
  assert.deepEqual(await requestToken(machine(loggedIn, { [route]: { token } }), "prj_1", "team_a"), { token, expiresAt: NOW + 43_200 });
  assert.deepEqual(
    await requestToken(
      machine(loggedIn, { "POST /v1/projects/a%2Fb/token?source=vercel-oidc-refresh": { token: "opaque" } }),
      "a/b",
      undefined,
    ),
    { token: "opaque", expiresAt: NOW + 3600 },
  );

  const answers: [unknown, string][] = [
    [{ nothing: 1 }, "server"],
    [{ token: "a\nb" }, "server"],
    [new Response("<html>", { status: 200 }), "server"],
    [new Response("{}", { status: 401 }), "loginRefused"],
    [new Response('{"error":{"code":"forbidden","invalidToken":true}}', { status: 403 }), "loginRefused"],
    [new Response('{"error":{"code":"forbidden"}}', { status: 403 }), "forbidden"],
    [new Response("{}", { status: 404 }), "noProject"],
    [new Response("", { status: 302, headers: { location: "https://elsewhere.example" } }), "server"],
    [new Response("", { status: 500 }), "server"],
    [new TypeError(`fetch failed with ${CLI_TOKEN}`, { cause: { code: "ENOTFOUND" } }), "network"],
  ];
  for (const [answer, expected] of answers) {
    assert.equal(await kindOf(requestToken(machine(loggedIn, { [route]: answer }), "prj_1", "team_a")), expected);
  }
});

test("the expiry date is read from a token", () => {
  assert.equal(expiryOf(jwt({ exp: 123 })), 123);
  assert.equal(expiryOf(jwt({ exp: 1.5, name: "Zoë ÿ???>>>" })), 1.5, "base64url, UTF-8");
  for (const token of ["", "opaque", "a.b.c", jwt({}), jwt({ exp: "soon" }), jwt({ exp: -1 }), jwt(null), "..", "a.!!!.c"]) {
    assert.equal(expiryOf(token), undefined, token);
  }
});

function jwt(payload: unknown): string {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "none" })}.${part(payload)}.signature`;
}
