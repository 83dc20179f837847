import assert from "node:assert/strict";
import { test } from "node:test";

import * as vscode from "vscode";

import { loadRequests } from "../../packages/loader/src/requests.js";
import { Dialogs } from "../src/dialogs.js";
import { Log } from "../src/log.js";
import { type Machine, SignIn } from "../src/sign-in.js";
import { modules } from "./harness.js";
import { fake, Secrets } from "./vscode.js";

const requests = loadRequests(modules[1]![1] as Uint8Array<ArrayBuffer>);
const CLI_TOKEN = "cli-token-canary";
const ORIGIN = "https://ai-gateway.vercel.sh";
const LIFE = 12 * 3600;

/** A mock of Vercel, and a clock that the test controls. Tokens are numbered in the order in which they are issued. */
class World implements Machine {
  platform: string | undefined = "linux";
  environment = { HOME: "/home/me" };
  time = 1_700_000_000;
  given = 0;
  life = LIFE;
  login: object | undefined = { token: CLI_TOKEN };
  failure: Response | Error | undefined;
  /** Requests for tokens wait for this. */
  gate: Promise<void> = Promise.resolve();
  readonly secrets = new Secrets();
  readonly signIn: SignIn;

  constructor() {
    fake.reset();
    this.signIn = this.window();
  }

  /** Another window of the same VS Code. */
  window(): SignIn {
    const log = new Log(vscode.window.createOutputChannel("Sluice", { log: true }));
    return new SignIn({ requests: () => requests }, this.secrets as unknown as vscode.SecretStorage, log, this);
  }

  now(): number {
    return this.time;
  }

  async readFile(path: string): Promise<string | null> {
    return path.endsWith("/share/com.vercel.cli/auth.json") && this.login !== undefined ? JSON.stringify(this.login) : null;
  }

  async fetch(url: string, init: RequestInit): Promise<Response> {
    const sent = [new URL(url).origin, init.redirect, new Headers(init.headers).get("authorization")];
    assert.deepEqual(sent, ["https://api.vercel.com", "manual", `Bearer ${CLI_TOKEN}`]);
    if (url.includes("/token?")) {
      const number = ++this.given;
      await this.gate;
      if (this.failure instanceof Error) {
        throw this.failure;
      }
      return this.failure ?? Response.json({ token: this.token(number) });
    }
    if (url.includes("/v2/user")) {
      return Response.json({ user: { username: "me", version: "northstar" } });
    }
    if (url.includes("/v2/teams")) {
      return Response.json({
        teams: [
          { id: "team_a", name: "Alpha", slug: "alpha" },
          { id: "team_b", name: "Beta", slug: "beta" },
        ],
      });
    }
    return url.endsWith("&from=7")
      ? Response.json({ projects: [{ id: "prj_2", name: "two" }] })
      : Response.json({ projects: [{ id: "prj_1", name: "one" }], pagination: { next: 7 } });
  }

  token(number: number): string {
    const payload = Buffer.from(JSON.stringify({ exp: this.time + this.life, number })).toString("base64url");
    return `eyJhbGciOiJSUzI1NiJ9.${payload}.sig`;
  }

  /** Runs the dialog, with a user who gives these answers. */
  async run(answers: (string | undefined)[], origin = ORIGIN): Promise<void> {
    fake.settings.set("sluice.baseUrl", `${origin}/v1`);
    fake.answers = answers;
    // The dialog uses no other services.
    const services = { modules: { requests: () => requests }, signIn: this.signIn } as unknown as ConstructorParameters<typeof Dialogs>[0];
    await new Dialogs(services, () => assert.fail()).run("signIn");
    assert.deepEqual([fake.answers, fake.mistakes], [[], []]);
  }

  async signedIn(): Promise<this> {
    await this.run(["Beta", "two"]);
    return this;
  }
}

test("a team and a project are chosen, and only the gateway's token is kept", async () => {
  const world = await new World().signedIn();
  assert.deepEqual(fake.seen, [
    "pick: Sign in with the Vercel CLI: Alpha, Beta",
    "pick: Sign in with the Vercel CLI: one, two",
    "info: Sluice: signed in for Beta / two. The models are in the model picker of the chat.",
  ]);
  const kept = [...world.secrets.kept.values()].join();
  assert(kept.includes('"projectId":"prj_2"') && kept.includes('"teamId":"team_b"'));
  const token = world.token(1);
  assert.equal(await world.signIn.bearerFor(ORIGIN), token);
  for (const text of [kept, fake.logged.join(), fake.seen.join()]) {
    assert(!text.includes(CLI_TOKEN));
  }
  assert(!fake.logged.join().includes(token));
  const current = await world.signIn.current();
  assert.deepEqual([current?.label, current?.origin], ["Beta / two", ORIGIN]);
});

test("cancelling a sign-in leaves the user signed out", async () => {
  for (const answers of [[undefined], ["Alpha", undefined]]) {
    const world = new World();
    await world.run(answers);
    assert.equal(world.secrets.kept.size, 0);
    assert.equal(await world.signIn.current(), undefined);
  }
});

test("the token goes to its own origin only", async () => {
  const world = await new World().signedIn();
  for (const origin of ["https://evil.example", "http://ai-gateway.vercel.sh", "https://ai-gateway.vercel.sh:8443", ""]) {
    assert.equal(await world.signIn.bearerFor(origin), undefined, origin);
  }
});

test("it is renewed fifteen minutes before it expires, with one request for all callers", async () => {
  const world = await new World().signedIn();
  const first = await world.signIn.bearerFor(ORIGIN);
  world.time += LIFE - 15 * 60 - 1;
  assert.equal(await world.signIn.bearerFor(ORIGIN), first);
  world.time += 2;
  let open = (): void => undefined;
  world.gate = new Promise((resolve) => (open = resolve));
  const waiting = Promise.all(Array.from({ length: 20 }, () => world.signIn.bearerFor(ORIGIN)));
  open();
  assert.deepEqual(new Set(await waiting), new Set([world.token(2)]));
  assert.equal(world.given, 2);
  assert([...world.secrets.kept.values()].join().includes(world.token(2)), "for the next start");
});

test("a token that can't be renewed is used until it expires, and then the reason is reported", async () => {
  const world = await new World().signedIn();
  const first = await world.signIn.bearerFor(ORIGIN);
  world.time += LIFE - 600;
  world.login = { token: CLI_TOKEN, expiresAt: 1 };
  assert.equal(await world.signIn.bearerFor(ORIGIN), first);
  world.failure = new TypeError(`fetch failed ${CLI_TOKEN}`);
  world.login = { token: CLI_TOKEN };
  assert.equal(await world.signIn.bearerFor(ORIGIN), first);
  assert.equal(world.given, 1, "Vercel is not asked again at once");
  world.time += 601;
  await assert.rejects(world.signIn.bearerFor(ORIGIN), (error: Error) => {
    assert.equal(error.stack, "", "chat would show it");
    assert.equal(
      error.message,
      "The sign-in with the Vercel CLI has expired. Vercel cannot be reached. Check the network and the proxy settings, then try again.",
    );
    return true;
  });
  world.failure = undefined;
  assert.equal(await world.signIn.bearerFor(ORIGIN), world.token(3), "when Vercel is back, so is the user");
});

test("problems have a text for the user, a detail for the log and no token", async () => {
  const problems: [Partial<World>, string][] = [
    [{ failure: new TypeError(`fetch failed with ${CLI_TOKEN}`, { cause: { code: "ENOTFOUND" } }) }, "vercelUnreachable Connect ENOTFOUND"],
    [{ failure: new Response("", { status: 302, headers: { location: "https://elsewhere.example" } }) }, "vercelUnexpected Redirect"],
    [{ failure: new Response("{}", { status: 401 }) }, "vercelLoginRefused HTTP 401"],
    [{ login: undefined }, "vercelNoCli"],
    [{ platform: undefined }, "vercelNoFiles"],
  ];
  for (const [change, expected] of problems) {
    const world = Object.assign(new World(), change);
    await world.run("failure" in change ? ["Beta", "two"] : []);
    assert.match(fake.seen.at(-1)!, /^error: Sluice: .*(Add|Install|Run|Check|Try) /);
    assert.deepEqual(fake.logged, [`warn: Sign-in: ${expected}`]);
    assert(!(fake.seen.join() + fake.logged.join()).includes(CLI_TOKEN));
  }
});

test("signing out deletes the token, even while it is being renewed", async () => {
  const world = await new World().signedIn();
  world.time += LIFE;
  let open = (): void => undefined;
  world.gate = new Promise((resolve) => (open = resolve));
  const renewing = world.signIn.bearerFor(ORIGIN);
  await settled();
  assert.equal(world.given, 2, "the renewal is on its way");
  await world.signIn.work("signOut");
  open();
  await renewing;
  assert.equal(world.secrets.kept.size, 0);
  await assert.rejects(world.signIn.bearerFor(ORIGIN), /signed out/);
});

test("a renewal that began before another sign-in does not serve the new address", async () => {
  const world = await new World().signedIn();
  world.time += LIFE;
  let open = (): void => undefined;
  world.gate = new Promise((resolve) => (open = resolve));
  const renewing = world.signIn.bearerFor(ORIGIN);
  await settled();
  assert.equal(world.given, 2, "the first renewal is on its way");
  // The new token is about to expire too, so that it has to be renewed immediately.
  world.gate = Promise.resolve();
  world.life = 60;
  const elsewhere = "https://other.example";
  await world.run(["Sign In for This Address", "Alpha", "one"], elsewhere);
  const bearer = await world.signIn.bearerFor(elsewhere);
  open();
  assert.notEqual(bearer, await renewing);
  const kept = [...world.secrets.kept.values()].join();
  assert(kept.includes(`"origin":"${elsewhere}"`) && kept.includes(bearer!));
  assert.equal(await world.signIn.bearerFor(ORIGIN), undefined);
});

test("windows notice each other's sign-ins, but not renewals", async () => {
  const world = new World();
  const other = world.window();
  const news: string[] = [];
  world.signIn.onDidChange(() => news.push("here"));
  other.onDidChange(() => news.push("there"));
  assert.equal(await other.current(), undefined);
  await world.signedIn();
  await settled();
  assert.equal((await other.current())?.label, "Beta / two");
  assert.deepEqual(news.sort(), ["here", "there"]);
  world.time += LIFE;
  const renewed = await other.bearerFor(ORIGIN);
  await settled();
  assert.equal(await world.signIn.bearerFor(ORIGIN), renewed, "taken over");
  assert.equal(news.length, 2);
  await other.work("signOut");
  await settled();
  assert.equal(await world.signIn.current(), undefined);
  assert.equal(news.length, 4);
});

test("a stored session that can't be read is ignored", async () => {
  for (const kept of ["", "null", "[]", "{", '{"origin":1}', '{"origin":"o","baseUrl":"b","projectId":"p","token":"t"}']) {
    const world = new World();
    world.secrets.kept.set("vercelSignIn", kept);
    assert.equal(await world.signIn.current(), undefined, kept);
  }
});

/** Lets everything that waits for a promise run. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
