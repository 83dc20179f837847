// Nothing in a server's text becomes clickable according to VS Code's own parsers, and the text stays readable.

import assert from "node:assert/strict";
import { before, test } from "node:test";
import { marked } from "marked";

import { loadRequests } from "../../packages/loader/src/requests.js";
import { linkFree, useCore } from "../src/link-free.js";
import { modules } from "./harness.js";

before(async () => useCore(await loadRequests(modules[1]![1] as Uint8Array<ArrayBuffer>)));

/** The pattern that VS Code uses for notifications and input boxes: vs/base/common/linkedText.ts. */
const LINKED_TEXT = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/i;
/** The pattern for labels: vs/base/common/iconLabels.ts. */
const ICON = /\$\([A-Za-z0-9-]+(?:~[A-Za-z]+)?\)/;
const JOINER = "\u2060";

/** Makes word joiners visible. */
const check = (text: string, expected: string): void => assert.equal(linkFree(text).replaceAll(JOINER, "·"), expected);

test("links, addresses and icons are disabled", () => {
  check("[click](command:x)", "·[click]·(command:x)");
  check('Failed: [[click]](COMMAND:x "https://example.com")', 'Failed: [[click]]·(COMMAND:x "https://·example.com")');
  check("![picture](https://example.com/a.png)", "![picture]·(https://·example.com/a.png)");
  check("[a]: https://example.com", "·[a]: https://·example.com");
  check("<https://example.com> <command:x> <a href='x'> <!-- x", "<·https://·example.com> <·command:x> <·a href='x'> <·!-- x");
  check("HTTP://example.com ftp://example.com WWW.example.com", "HTTP://·example.com ftp://·example.com WWW.·example.com");
  check("mailto:me@example.com", "mailto:me@·example.com");
  check("$(warning) $(sync~spin)", "$·(warning) $·(sync~spin)");
  check("# heading", "·# heading");
});

test("removing hidden characters can't create a link", () => {
  for (const hidden of ["\u200b", "\u0000", "\u2060", "\ufeff", "\u00ad", "\u202e", "\u{e0041}", "\ud800"]) {
    check(`x [click]${hidden}(command:x) $${hidden}(bug)`, "x [click]·(command:x) $·(bug)");
  }
  check("x [click]\r\n\u2028(command:x)", "x [click] (command:x)");
});

test("ordinary text is unchanged", () => {
  for (const text of [
    "Insufficient funds. Please add credits to your account (see Billing).",
    "anthropic/claude-sonnet-4.5@latest",
    "@cf/meta/llama-3.1-8b[1m]",
    "hf.co/bartowski/Llama-3.2-1B-GGUF:latest",
    "a < b, c > d, $5 (or less), 100 % [of] it",
    "Modèle très rapide 模型 🦙",
  ]) {
    check(text, text);
  }
});

test("a copied address still works", () => {
  assert.equal(new URL(linkFree("https://example.com/a?b#c")).href, "https://example.com/a?b#c");
});

test("long text is shortened between characters", () => {
  assert.equal(linkFree("word ".repeat(1_000_000)).length, 1_000);
  assert.equal(linkFree("🦙".repeat(500)), "🦙".repeat(500));
  assert.equal(linkFree("🦙".repeat(501)), `${"🦙".repeat(499)}…`);
});

test("no combination of pieces is a link to any parser, and no visible text is lost", () => {
  const pieces = [
    ..."[]()<>!$\\`*_~|:#@/.&; \n\t\u200b\u0000\u2060",
    ...[
      "](",
      "[a](",
      "$(",
      "$(bug)",
      "<a href='",
      "command:x",
      "https://",
      "http:",
      "//",
      "www.",
      "evil.example",
      "a",
      "&#91;",
      "&lt;",
      "[a]: ",
      "```",
      "~~~",
      '"t"',
    ],
  ];
  let state = 1;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  for (let round = 0; round < 20_000; round++) {
    const text = Array.from({ length: 1 + random(14) }, () => pieces[random(pieces.length)]!).join("");
    const shown = linkFree(text);
    assert.doesNotMatch(shown, LINKED_TEXT, JSON.stringify(text));
    assert.doesNotMatch(shown, ICON, JSON.stringify(text));
    // By itself, in a sentence as the chat shows errors, and as Manage Models shows names.
    for (const markdown of [shown, `Reason: ${shown}`, `**${shown}**&nbsp;_${shown}_`]) {
      assert.doesNotMatch(marked.parse(markdown, { async: false }), /<(a|img|pre)\b/, JSON.stringify(text));
    }
    assert.equal(linkFree(shown), shown, JSON.stringify(text));
    const visible = (from: string): string => from.replace(/[\p{Cc}\p{Cf}\s]/gu, "");
    assert.equal(visible(shown), visible(text), JSON.stringify(text));
  }
});
