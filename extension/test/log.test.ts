import assert from "node:assert/strict";
import { test } from "node:test";

import * as vscode from "vscode";

import type { Outcome } from "../../packages/loader/src/core.js";
import { Log, redact } from "../src/log.js";
import { fake } from "./vscode.js";

test("text that looks like a key and the user's name are masked", () => {
  const cases: [string, string][] = [
    ["nothing to hide in anthropic/claude-sonnet-4.5", "nothing to hide in anthropic/claude-sonnet-4.5"],
    ["response.output_text.delta", "response.output_text.delta"],
    ["request req_0123456789abcdef", "request req_0123456789abcdef"],
    ["1fe0d9c4-0a8e-4b5b-9df3-2e9c0d9a1b2c", "1fe0d9c4-0a8e-4b5b-9df3-2e9c0d9a1b2c"],
    ["Authorization: Bearer abc", "Authorization: Bearer [hidden]"],
    ["key vck_1234567890abcdef is wrong", "key [hidden] is wrong"],
    ["sk-proj-1234567890abcdef", "[hidden]"],
    ["eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjF9.c2ln!", "[hidden]!"],
    ["https://me:secret@host/v1", "https://[hidden]@host/v1"],
    ["https://host/v1?api_key=abc&x=1", "https://host/v1?api_key=[hidden]&x=1"],
    ["0123456789abcdef0123456789abcdef0123456789abcdef", "[hidden]"],
    ["/home/anna/.local/share", "~/.local/share"],
    ["C:\\Users\\anna\\AppData", "~\\AppData"],
    ["file:///Users/anna/x", "file://~/x"],
    [`cannot read /${"root"}/.config`, "cannot read ~/.config"],
  ];
  for (const [text, expected] of cases) {
    assert.equal(redact(text), expected);
  }
});

test("a known secret appears at no level, whatever it looks like", () => {
  fake.reset();
  const log = new Log(vscode.window.createOutputChannel("Sluice", { log: true }));
  log.hide("tomato soup");
  for (const level of ["trace", "debug", "info", "warn", "error"] as const) {
    log[level]("I like tomato soup.");
  }
  assert.deepEqual(new Set(fake.logged.map((line) => line.replace(/^\w+: /, ""))), new Set(["I like [hidden]."]));
  assert(!JSON.stringify(log.recent).includes("tomato"));
});

test("a key is never cut in half", () => {
  fake.reset();
  const log = new Log(vscode.window.createOutputChannel("Sluice", { log: true }));
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
  assert(log.recent.every(({ text }) => text.length < 2_100));
  assert.deepEqual(
    fake.logged.filter((line) => /tomato|soup|ak_/.test(line)),
    [],
  );
});

test("masking server text takes linear time", () => {
  // Each of these would make one of the patterns backtrack. A pattern that does would take more than a day.
  const million = 1_000_000;
  const hostile = [
    "a",
    "a1",
    "?key",
    "&token-",
    "://",
    ":",
    "eyJ",
    "-eyJ",
    "sk-",
    "sk",
    "bearer ",
    "bearer",
    " ",
    "/Users/",
    "/home",
    "/root",
    "?a=",
    "@",
    "a/",
    "=",
    "-",
  ];
  for (const piece of hostile) {
    for (const text of [piece, `?${piece}`, `://${piece}`, `bearer ${piece}`, `sk-${piece}`].map(
      (start) => start + piece.repeat(million / piece.length),
    )) {
      redact(text);
      redact(`${text} 1`);
    }
  }
});

test("a line has a maximum length, and a level that is off costs nothing", () => {
  fake.reset();
  const channel = vscode.window.createOutputChannel("Sluice", { log: true });
  const log = new Log(channel);
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

test("the outcome of a request is logged in words that no server chose", () => {
  fake.reset();
  const log = new Log(vscode.window.createOutputChannel("Sluice", { log: true }));
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

test("few lines are remembered, and none of them contains server text", () => {
  fake.reset();
  const log = new Log(vscode.window.createOutputChannel("Sluice", { log: true }));
  log.outcome("a/b", failed("invalid_prompt"), "You wrote: my diary");
  for (let line = 0; line < 1000; line++) {
    log.trace(`line ${line}`);
  }
  assert.deepEqual(
    log.recent.map(({ text }) => text),
    ["a/b: failed, invalid_prompt, badRequest, HTTP 400, invalid_prompt"],
    "nothing of trace",
  );
  for (let line = 0; line < 1000; line++) {
    log.debug(`line ${line}`);
  }
  assert.equal(log.recent.length, 200);
  assert.equal(log.recent.at(-1)?.text, "line 999");
});
