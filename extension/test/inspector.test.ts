// The inspector's view: its page, its answers, and what is on the disk.

import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import * as vscode from "vscode";

import type { RequestDetail, TreeRow } from "../../packages/loader/src/core.js";
import type { Start, Usage } from "../view/protocol.js";
import { keyed, openView as open, start } from "./harness.js";
import { fake } from "./vscode.js";

test("the page may load its script and its style sheet, and nothing else", async () => {
  await start(keyed);
  const { html, options } = open().webview;
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1];
  assert.match(
    policy ?? "",
    /^default-src 'none'; style-src https:\/\/resources\.example; script-src 'nonce-[\w-]{36}'; base-uri 'none'; form-action 'none'$/,
  );
  const nonce = /'nonce-([\w-]+)'/.exec(html)?.[1];
  const scripts = html.match(/<script[^>]*>/g);
  assert.deepEqual(scripts, [`<script type="module" nonce="${nonce}" src="file:///extension/dist/view.js">`]);
  assert(!/ on\w+=|style=|<style|javascript:/.test(html), html);
  assert.deepEqual(options, { enableScripts: true, localResourceRoots: [vscode.Uri.file("/extension/dist")] });
  assert.notEqual(/'nonce-([\w-]+)'/.exec(open().webview.html)?.[1], nonce);
});

test("a chat is in the tree, with its details and its usage", async () => {
  const { chat } = await start(keyed);
  const { ask, posted, visible } = open();
  assert.deepEqual(await ask<TreeRow[]>({ tree: {} }), []);
  const { error } = await chat(keyed.configuration, "Hello");
  assert.equal(error, undefined);
  let rows: TreeRow[] = [];
  while (rows.length === 0) {
    rows = await ask<TreeRow[]>({ tree: {} });
  }
  assert.deepEqual(
    rows.map(({ kind, depth, status }) => [kind, depth, status]),
    [
      ["conversation", 0, "completed"],
      ["turn", 1, "completed"],
    ],
  );
  const detail = await ask<RequestDetail>({ request: rows[1]!.request! });
  assert.deepEqual([detail.id, detail.groups.map(({ group }) => group)], [rows[1]!.request, ["system", "new"]]);
  assert(detail.phases.length > 0);
  assert.equal(await ask({ request: "unknown" }), null);
  const usage = await ask<Usage>({ usage: "day" });
  assert.equal(usage.rows.length, 1);
  // Other windows may have written something while the view was hidden.
  visible.fire();
  while (!posted.some((message) => "changed" in message)) {
    await new Promise((resolve) => setImmediate(resolve));
  }
});

test("a command shows the usage", async () => {
  const { run } = await start(keyed);
  await run("showUsage");
  assert.deepEqual(fake.executed.at(-1), ["sluice.inspector.focus"]);
  const { ask, posted } = open();
  assert.equal((await ask<Start>({ start: null })).tab, "usage");
  await run("showUsage");
  assert.deepEqual(posted.at(-1), { show: "usage" });
});

test("no text of a conversation is on the disk", async () => {
  const [question, answer] = ["question-canary", "answer-canary"];
  const { chat, restart } = await start({
    ...keyed,
    intercept: (url) =>
      url.endsWith("/responses")
        ? new Response(
            [
              { type: "response.created", response: { id: "r" } },
              { type: "response.output_text.delta", item_id: "m", output_index: 0, content_index: 0, delta: answer },
              { type: "response.completed", response: { id: "r", status: "completed", usage: { input_tokens: 9, output_tokens: 3 } } },
            ]
              .map((event) => `data: ${JSON.stringify(event)}\n\n`)
              .join(""),
            { headers: { "content-type": "text/event-stream" } },
          )
        : undefined,
  });
  await chat(keyed.configuration, `${question} is my secret`);
  const { ask } = open();
  while ((await ask<TreeRow[]>({ tree: {} })).length === 0) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  await restart();
  const records = [...fake.files].filter(([name]) => name.startsWith("/storage/records/"));
  assert.equal(records.length, 1);
  for (const [name, bytes] of [...fake.files].filter(([name]) => name.startsWith("/storage/"))) {
    const raw = bytes as Uint8Array;
    const text = Buffer.from(name.endsWith(".gz") ? gunzipSync(raw) : raw).toString("latin1");
    assert(name.length > 0 && !text.includes(question) && !text.includes(answer), `${name}: ${text}`);
  }
});
