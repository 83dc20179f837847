import assert from "node:assert/strict";
import { test } from "node:test";

import * as vscode from "vscode";

import type { Outcome } from "../../crates/sluice-wasm/js/src/core.js";
import { Log, redact } from "../src/log.js";
import { fake } from "./vscode.js";

test("what looks like a key is taken out, and whose machine it is", () => {
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

test("a known secret gets into no line, at no level, whatever it looks like", () => {
  fake.reset();
  const log = new Log(vscode.window.createOutputChannel("Sluice", { log: true }));
  log.hide("tomato soup");
  for (const level of ["trace", "debug", "info", "warn", "error"] as const) {
    log[level]("I like tomato soup.");
  }
  assert.deepEqual(new Set(fake.logged.map((line) => line.replace(/^\w+: /, ""))), new Set(["I like [hidden]."]));
  assert(!JSON.stringify(log.recent).includes("tomato"));
});

test("the memory is short, and does not keep what a server said", () => {
  fake.reset();
  const log = new Log(vscode.window.createOutputChannel("Sluice", { log: true }));
  const failure = { kind: "badRequest", status: 400, code: "invalid_prompt", requestId: "req_1" };
  log.outcome("a/b", { status: "failed", reason: null, empty: null, usage: null, error: failure } as Outcome, "You wrote: my diary");
  assert.deepEqual(fake.logged, [
    "error: a/b: failed, badRequest, HTTP 400, invalid_prompt, request req_1",
    "trace: a/b: You wrote: my diary",
  ]);
  assert.equal(log.recent[0]?.text, "a/b: failed, badRequest, HTTP 400, invalid_prompt, request req_1");
  for (let line = 0; line < 1000; line++) {
    log.trace(`line ${line}`);
  }
  assert.equal(log.recent.length, 200);
  assert.equal(log.recent.at(-1)?.text, "line 999");
  assert.match(log.recent[0]!.text, /badRequest/, "a flood of trace lines does not wash away what happened");
});
