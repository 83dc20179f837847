// Every key and every extra header belongs to one origin and is sent nowhere else.

import assert from "node:assert/strict";
import { test } from "node:test";

import type { ConnectionResult } from "../../packages/loader/src/core.js";
import { loadRequests } from "../../packages/loader/src/requests.js";
import { LOCAL, modules, start } from "./harness.js";
import { fake } from "./vscode.js";

const group = (host: string) => ({ apiKey: `key-of-${host}`, baseUrl: `https://${host}/v1` });

/** Returns the origins that got a header with this value when every group was queried in every possible way. */
async function whoGot(headers: object, ...hosts: string[]): Promise<{ [value: string]: string[] }> {
  process.env["TEAM_SECRET"] = "from-the-environment";
  const { sent, chat, run } = await start({ configuration: hosts.map(group) });
  fake.settings.set("sluice.extraHeaders", headers);
  for (const host of hosts) {
    await chat(group(host), "hello");
    await run("testConnection", host, undefined);
  }
  await run("refreshModels");
  const got: { [value: string]: Set<string> } = {};
  for (const { url, headers } of sent) {
    for (const value of headers.values()) {
      if (/secret|environment/.test(value)) {
        (got[value] ??= new Set()).add(new URL(url).origin);
      }
    }
  }
  return Object.fromEntries(Object.entries(got).map(([value, origins]) => [value, [...origins]]));
}

test("extra headers go to the origin they are listed under", async () => {
  const got = await whoGot(
    {
      "x-plain": "plain-secret",
      "https://one.example": { "x-one": "one-secret", "x-env": "${env:TEAM_SECRET}" },
      "https://TWO.example:443/v1/": { "x-two": "two-secret" },
      "https://one.example.evil.example": { "x-evil": "other-secret" },
      "http://two.example": { "x-clear": "clear-secret" },
      "two.example": { "x-no-address": "lost-secret" },
    },
    "one.example",
    "two.example",
    "three.example",
  );
  assert.deepEqual(got, {
    "one-secret": ["https://one.example"],
    "from-the-environment": ["https://one.example"],
    "two-secret": ["https://two.example"],
  });
});

test("extra headers without an address are for the base URL in the settings", async () => {
  assert.deepEqual(await whoGot({ "x-plain": "plain-secret", "x-env": "${env:TEAM_SECRET}" }, "ai-gateway.vercel.sh", "other.example"), {
    "plain-secret": ["https://ai-gateway.vercel.sh"],
    "from-the-environment": ["https://ai-gateway.vercel.sh"],
  });
  assert(
    fake.logged.includes(
      "info: No header in sluice.extraHeaders is for https://other.example, so none is sent there. The setting says how to name an address.",
    ),
  );
});

test("an invalid base URL gets no headers", async () => {
  const { sent, chat } = await start({ configuration: group("one.example") });
  for (const baseUrl of ["", "nonsense", "http://one.example/v1"]) {
    fake.settings.set("sluice.baseUrl", baseUrl);
    fake.settings.set("sluice.extraHeaders", { "x-plain": "plain-secret" });
    await chat(group("one.example"), "hello");
  }
  assert(sent.length > 0 && sent.every(({ headers }) => headers.get("x-plain") === null));
});

test("an invalid address for headers is reported as a problem with the setting", async () => {
  await start();
  fake.settings.set("sluice.extraHeaders", { "gateway.example": { "x-team": "blue-secret" } });
  fake.answers = [undefined];
  await fake.resolveModels();
  await new Promise((resolve) => setImmediate(resolve));
  assert.match(fake.seen[0]!, /^warning: Sluice: Headers are set for gateway\.example, an address that Sluice can.t send/);
});

test("a report contains the names of extra headers but not their values", async () => {
  const { run } = await start();
  fake.settings.set("sluice.extraHeaders", {
    "x-plain": "plain-secret",
    "https://one.example": { "x-one": "one-secret", "x-list": ["list-secret"] },
  });
  const [report] = await run("exportReport");
  assert.match(report!, /"x-plain": "\[hidden\]"/);
  assert.match(report!, /"x-one": "\[hidden\]"/);
  assert(!/plain-secret|one-secret|list-secret/.test(report!));
});

test("a key with a line break is an error where it is entered and where it is found", async () => {
  const said = /The key contains a line break, a space or another character that is not allowed in a key, so nothing was sent/;
  const key = "first-half\nsecond-half";
  const entered = { ...group("one.example"), apiKey: key };
  const { sent, provider, run } = await start({ configuration: entered });
  await assert.rejects(provider.provideLanguageModelChatInformation({ silent: false, configuration: entered }, {}), said);
  assert.match((await run("testConnection", undefined))[0]!, said);
  assert.deepEqual(sent, []);

  const found = await start({ environment: { AI_GATEWAY_API_KEY: key } });
  fake.answers = [undefined];
  await fake.resolveModels();
  assert.match(fake.seen[0]!, said);
  assert.deepEqual(found.sent, []);
  assert(!(fake.logged.join() + fake.seen.join()).includes("half"));

  // White space around a key isn't part of it.
  const padded = { ...group("one.example"), apiKey: " good-key\n" };
  const good = await start({ configuration: padded });
  await good.chat(padded, "hello");
  assert(good.sent.some(({ key }) => key === "Bearer good-key"));
});

test("a key from the environment goes to the endpoint that it belongs to, and elsewhere only if the user agrees", async () => {
  /** Returns who got a key when VS Code asked for models by itself, and what the user was asked when they did. */
  const tell = async (environment: { readonly [name: string]: string }, baseUrl: string | undefined, answer?: string) => {
    const { sent, run } = await start({ environment });
    if (baseUrl !== undefined) {
      fake.settings.set("sluice.baseUrl", baseUrl);
    }
    const keys = () => [...new Set(sent.flatMap(({ url, key }) => (key === null ? [] : [`${key} to ${new URL(url).origin}`])))];
    await fake.resolveModels();
    const silently = keys();
    const asks = silently.length === 0;
    const seen = await run("refreshModels", ...(asks ? [answer, ...(answer === undefined ? [undefined] : [])] : []));
    return { silently, asked: asks ? seen[0] : undefined, after: keys() };
  };
  const sends = (key: string, origin: string) => ({
    silently: [`Bearer ${key} to ${origin}`],
    asked: undefined,
    after: [`Bearer ${key} to ${origin}`],
  });
  const gateway = "https://ai-gateway.vercel.sh";
  const both = { AI_GATEWAY_API_KEY: "gateway-key", SLUICE_API_KEY: "own-key" };
  assert.deepEqual(await tell({ AI_GATEWAY_API_KEY: "gateway-key" }, undefined), sends("gateway-key", gateway));
  assert.deepEqual(await tell({ VERCEL_OIDC_TOKEN: "token-key", SLUICE_API_KEY: " " }, undefined), sends("token-key", gateway));
  assert.deepEqual(await tell(both, "https://mine.example/v1"), sends("own-key", "https://mine.example"), "the user's own setting");
  assert.deepEqual(await tell({ SLUICE_BASE_URL: `${LOCAL}/v1`, ...both }, undefined), sends("own-key", LOCAL));
  const asked = "warning: VS Code's environment specifies https://other.example as the address for your key.";
  const other = { SLUICE_BASE_URL: "https://other.example/v1", ...both };
  assert.deepEqual(await tell(other, undefined, undefined), { silently: [], asked, after: [] });
  assert.deepEqual(await tell(other, undefined, "Send the Key There"), {
    silently: [],
    asked,
    after: ["Bearer own-key to https://other.example"],
  });
});

test("the gateway's key is not sent to another endpoint", async () => {
  const environment = { AI_GATEWAY_API_KEY: "gateway-key" };
  const said = (origin: string) =>
    `AI_GATEWAY_API_KEY is not sent to ${origin}, only to https://ai-gateway.vercel.sh. To send a key, set SLUICE_API_KEY.`;
  // A server on this machine may need no key.
  const here = await start({ environment: { ...environment, SLUICE_BASE_URL: `${LOCAL}/v1` } });
  assert((await fake.resolveModels()).length > 1);
  assert(here.sent.length > 0 && here.sent.every(({ url, key }) => new URL(url).origin === LOCAL && key === null));
  assert.equal(fake.logged.filter((line) => line.includes(said(LOCAL))).length, 1);

  for (const elsewhere of [{ SLUICE_BASE_URL: "https://other.example/v1" }, undefined]) {
    const { sent, run } = await start({ environment: { ...environment, ...elsewhere } });
    if (elsewhere === undefined) {
      fake.settings.set("sluice.baseUrl", "https://other.example/v1");
    }
    await fake.resolveModels();
    assert.match((await run("testConnection", undefined))[0]!, new RegExp(said("https://other.example").replaceAll(".", "\\.")));
    assert.deepEqual(
      sent.filter(({ url }) => !url.startsWith("https://demo.invalid/")),
      [],
    );
  }
});

test("connections have names in the user's language", async () => {
  const requests = await loadRequests(modules[1]![1] as Uint8Array<ArrayBuffer>);
  requests.setLanguage({ name: "zh-cn", sentences: { Demo: "演示" } });
  const shell = { perform: async () => ({ done: false }) };
  const { found } = await requests.run<ConnectionResult>({ connections: "demo" }, shell);
  assert.equal(found[0]!.label, "演示");
});
