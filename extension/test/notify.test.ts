// Only notify.ts may call functions that show text, so that all text goes through it.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { before, test } from "node:test";
import ts from "typescript";
import * as vscode from "vscode";

import type { Message, StatusLine } from "../../packages/loader/src/boundary.js";
import { loadRequests } from "../../packages/loader/src/requests.js";
import { useCore } from "../src/link-free.js";
import { ask, pick, registerProvider, StatusBar, showError, showInformation, showWarning, withProgress } from "../src/notify.js";
import { modules } from "./harness.js";
import { fake } from "./vscode.js";

before(async () => useCore(await loadRequests(modules[1]![1] as Uint8Array<ArrayBuffer>)));

/** The members that other files may use of those namespaces of VS Code that can show something. */
const ALLOWED: { readonly [namespace: string]: readonly string[] } = {
  // Documents and logs are plain text, a terminal shows what we type into it, and the inspector makes no links.
  window: ["createOutputChannel", "createTerminal", "registerWebviewViewProvider", "showTextDocument"],
  lm: ["selectChatModels"],
  authentication: [],
  chat: [],
  comments: [],
  languages: [],
  MarkdownString: [],
};

test("no other file shows text", () => {
  const wrong: string[] = [];
  for (const name of readdirSync("src").filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts") && file !== "notify.ts")) {
    const file = ts.createSourceFile(name, readFileSync(`src/${name}`, "utf8"), ts.ScriptTarget.ES2022, true);
    const visit = (node: ts.Node): void => {
      if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier) && node.moduleSpecifier.text === "vscode") {
        // This test couldn't find it under another name.
        const isWhole = node.importClause === undefined || node.importClause.namedBindings?.getText(file) === "* as vscode";
        if (!isWhole) wrong.push(`${name}: ${node.getText(file)}`);
      }
      const isName = node.parent !== undefined && ts.isPropertyAssignment(node.parent) && node.parent.name === node;
      if (ts.isIdentifier(node) && node.text === "vscode" && !isName && !ts.isNamespaceImport(node.parent)) {
        const access = node.parent;
        if (ts.isQualifiedName(access)) return;
        if (!ts.isPropertyAccessExpression(access)) {
          wrong.push(`${name}: ${access.getText(file)}`);
        } else if (access.name.text in ALLOWED) {
          const use = access.parent;
          if (!ts.isPropertyAccessExpression(use) || !ALLOWED[access.name.text]!.includes(use.name.text))
            wrong.push(`${name}: ${use.getText(file).slice(0, 80)}`);
        }
      }
      ts.forEachChild(node, visit);
    };
    visit(file);
  }
  assert.deepEqual(wrong, [], "show it with a function of notify.ts, or add one there");
});

const HOSTILE = "[click](command:x) $(bug)";
const SHOWN = "[click]\u2060(command:x) $\u2060(bug)";

test("messages, questions, lists and progress contain no links", async () => {
  fake.reset();
  const button = `Go to ${HOSTILE}`;
  fake.answers = [`Go to ${SHOWN}`, undefined, undefined, undefined, `\u2060${SHOWN}`];
  assert.equal(await showInformation(`I ${HOSTILE}`, button), button);
  await showWarning(`W ${HOSTILE}`);
  await showError(`E ${HOSTILE}`);
  assert.equal(await ask(`C ${HOSTILE}`, "Yes"), undefined);
  const plain = (text: string): Message[] => [{ code: "plain", args: [text] }];
  const row = { icon: null, label: plain(HOSTILE), description: plain(HOSTILE), detail: plain(HOSTILE) };
  assert.equal(await pick({ rows: [row], title: plain(`P ${HOSTILE}`), placeholder: [] }), 0);
  await withProgress(`T ${HOSTILE}`, async (report) => report(`M ${HOSTILE}`));
  await withProgress(`T ${HOSTILE}`, async (report, _cancellation) => report(`M ${HOSTILE}`));
  assert.deepEqual(fake.seen, [
    `info: I ${SHOWN}`,
    `warning: W ${SHOWN}`,
    `error: E ${SHOWN}`,
    `warning: C ${SHOWN}`,
    `pick: P ${SHOWN}: \u2060${SHOWN}`,
  ]);
  assert.deepEqual(fake.progress, [`T ${SHOWN}`, `M ${SHOWN}`, `T ${SHOWN}`, `M ${SHOWN}`]);
});

test("errors of the provider contain no links and no stack", async () => {
  fake.reset();
  const cancelled = new vscode.CancellationError();
  for (const [thrown, name] of [
    [new Error(`because ${HOSTILE}`), "Error"],
    [new DOMException(`because ${HOSTILE}`), "Error"],
    [`because ${HOSTILE}`, "Error"],
    [new vscode.LanguageModelError(`because ${HOSTILE}`), "LanguageModelError"],
  ] as const) {
    const reject = async (): Promise<never> => {
      throw thrown;
    };
    registerProvider("sluice", {
      provideLanguageModelChatInformation: reject,
      provideLanguageModelChatResponse: reject,
      provideTokenCount: reject,
    });
    const provider = fake.providers.pop() as { [method: string]: () => Promise<unknown> };
    for (const method of Object.values(provider)) {
      const shown = await method().then(
        () => assert.fail(),
        (error: Error) => error,
      );
      assert.deepEqual([shown.constructor.name, shown.message, shown.stack], [name, `because ${SHOWN}`, ""]);
    }
  }
  const cancel = async (): Promise<never> => {
    throw cancelled;
  };
  registerProvider("sluice", {
    provideLanguageModelChatInformation: cancel,
    provideLanguageModelChatResponse: cancel,
    provideTokenCount: cancel,
  });
  const provider = fake.providers.pop() as { provideTokenCount(): Promise<number> };
  await assert.rejects(provider.provideTokenCount(), (error) => error === cancelled);
});

test("a screen reader says what the numbers in the status bar mean", () => {
  const status = new StatusBar();
  const plain = (text: string): Message => ({ code: "plain", args: [text] });
  const tooltip = [
    { label: { code: "contextLabel", args: [] }, value: [plain("12.0k of 168k"), plain("7 %")] },
    { label: { code: "costLabel", args: [] }, value: [plain("$0.01")] },
  ] satisfies StatusLine["tooltip"];
  status.show({ text: [plain("12.0k/168k")], level: "normal", activity: "idle", tooltip });
  assert.equal(fake.spoken.at(-1), "Sluice. Context: 12.0k of 168k, 7 %; Cost: $0.01");
  status.retrying("Too many requests.", 1_000);
  assert.equal(fake.spoken.at(-1), "Sluice: trying again in 1 s");
  status.dispose();
});
