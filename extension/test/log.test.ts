import assert from "node:assert/strict";
import { test } from "node:test";

import * as vscode from "vscode";

import type { Outcome } from "../../packages/loader/src/core.js";
import { loadRequests, type Requests } from "../../packages/loader/src/requests.js";
import { Log } from "../src/log.js";
import { modules } from "./harness.js";
import { fake } from "./vscode.js";

/** Returns a log after the core's module was loaded. */
async function logWithCore(): Promise<Log> {
  const log = new Log(vscode.window.createOutputChannel("Sluice", { log: true }));
  log.useCore(await loadRequests(modules[1]![1] as Uint8Array<ArrayBuffer>));
  return log;
}

test("a known secret appears at no level, whatever it looks like", async () => {
  const early = new Log(vscode.window.createOutputChannel("Sluice", { log: true }));
  for (const [log, expected] of [
    [await logWithCore(), "I like [hidden]."],
    [early, "[hidden]"],
  ] as const) {
    for (const secret of ["tomato soup", "tomato"]) {
      fake.reset();
      log.hide(secret);
      for (const level of ["trace", "debug", "info", "warn", "error"] as const) {
        log[level](`I like ${secret}.`);
      }
      assert.deepEqual(new Set(fake.logged.map((line) => line.replace(/^\w+: /, ""))), new Set([expected]));
    }
    assert(!JSON.stringify(log.recent).includes("tomato"));
  }
});

test("a key is never cut in half", async () => {
  fake.reset();
  const log = await logWithCore();
  const secret = "tomato soup and bread";
  log.hide(secret);
  // Wherever it is, even if the text before it becomes shorter by masking.
  for (const before of ["word ", "Bearer abcdefgh ", "vck_1234567890abcdef "]) {
    for (let length = 1_900; length < 2_010; length++) {
      const text = before.repeat(200).slice(0, length);
      log.info(`${text}${secret} ${"x".repeat(5_000)}`);
      log.info(`${text} ak_1234567890abcdef1234567890abcdef1234567890abcdef ${"x ".repeat(1_000)}`);
    }
  }
  assert(log.recent.every((line) => line.length < 2_100));
  assert.deepEqual(
    fake.logged.filter((line) => /tomato|soup|ak_/.test(line)),
    [],
  );
});

test("the core masks keys and names of users in every line, and a text that it can't read is left out", async () => {
  fake.reset();
  const log = await logWithCore();
  assert.equal(log.redact("key vck_1234567890abcdef in /home/anna/.config \ud800"), "key [hidden] in ~/.config \ufffd");
  log.useCore({ redact: () => assert.fail("crashed") } as unknown as Requests);
  assert.equal(log.redact("anything"), "[hidden]");
});

test("a line has a maximum length, and a level that is off costs nothing", async () => {
  fake.reset();
  const log = await logWithCore();
  log.warn(`acme/m: ${"a".repeat(10_000_000)}`);
  assert.deepEqual(fake.logged, ["warn: acme/m: … (10000000 more characters)"]);

  fake.logLevel = vscode.LogLevel.Info;
  fake.logged = [];
  let looked = 0;
  // A text that records whether it was read.
  const text = new Proxy(new String("note"), {
    get(target, name): unknown {
      looked++;
      return Reflect.get(target, name);
    },
  }) as unknown as string;
  for (let note = 0; note < 100_000; note++) {
    log.trace(text);
  }
  assert.deepEqual([looked, fake.logged, log.recent.length], [0, [], 1]);
  log.debug("remembered for a report, and not shown");
  fake.logLevel = vscode.LogLevel.Off;
  log.error("the same");
  assert.deepEqual([fake.logged, log.recent.length], [[], 3]);
});

const failed = (code: string): Outcome =>
  ({
    status: "failed",
    reason: code,
    empty: null,
    usage: null,
    error: { kind: "badRequest", status: 400, code, requestId: "req_1" },
  }) as unknown as Outcome;

test("the outcome of a request is logged in words that no server chose", async () => {
  fake.reset();
  const log = await logWithCore();
  log.outcome("a/b", failed("invalid_prompt"), "You wrote: my diary");
  log.outcome("my diary: I hate my boss", failed("diary"), "You wrote: my diary");
  log.failure("warn", "It failed", Object.assign(new SyntaxError('"my diary" is not valid JSON'), { code: "my diary" }));
  log.failure("warn", "It failed", Object.assign(new Error("my diary"), { code: "ENOSPC" }));
  assert.deepEqual(
    fake.logged.filter((line) => !line.startsWith("trace: ")),
    [
      "error: a/b: failed, invalid_prompt, badRequest, HTTP 400, invalid_prompt",
      "error: a model: failed, badRequest, HTTP 400",
      "warn: It failed: SyntaxError",
      "warn: It failed: Error ENOSPC",
    ],
  );
  assert.equal(fake.logged[1], "trace: a/b: You wrote: my diary, invalid_prompt, request req_1");
});

test("few lines are remembered, and none of them contains server text", async () => {
  fake.reset();
  const log = await logWithCore();
  log.outcome("a/b", failed("invalid_prompt"), "You wrote: my diary");
  for (let line = 0; line < 1000; line++) {
    log.trace(`line ${line}`);
  }
  assert.deepEqual(
    log.recent.map((line) => line.replace(/^\S+ /, "")),
    ["error a/b: failed, invalid_prompt, badRequest, HTTP 400, invalid_prompt"],
    "nothing of trace",
  );
  for (let line = 0; line < 1000; line++) {
    log.debug(`line ${line}`);
  }
  assert.equal(log.recent.length, 200);
  assert.match(log.recent.at(-1)!, /Z debug line 999$/);
});
