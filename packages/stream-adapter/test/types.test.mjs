// Compiles the published types with TypeScript, as a user of the package would, from both module systems.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";

const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");

function compile(project) {
  const options = { cwd: new URL("..", import.meta.url), encoding: "utf8" };
  try {
    assert.equal(execFileSync(process.execPath, [tsc, "--project", project], options), "");
  } catch (error) {
    assert.fail(error.stdout || error.message);
  }
}

/** What the README's example of a failed answer takes from the code around it. */
const AROUND = `import * as vscode from "vscode";
import type { OpenResponsesStreamAdapter } from "@sluice/stream-adapter";
declare const adapter: OpenResponsesStreamAdapter;
declare const send: (signal: AbortSignal) => Promise<Response>;
declare const progress: vscode.Progress<vscode.LanguageModelResponsePart>;
declare const token: vscode.CancellationToken;
`;

test("the types are valid for ES modules, CommonJS and the README's example of a failed answer", () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const [, example] = /## When an answer fails\n\n```ts\n(.*?)```/s.exec(readme);
  mkdirSync(new URL("types/dist/", import.meta.url), { recursive: true });
  writeFileSync(new URL("types/dist/readme.mts", import.meta.url), AROUND + example);
  compile("test/types");
});

for (const version of [5, 6, 7]) {
  test(`version ${version} of the AI SDK accepts the types`, () => compile(`test/types/sdks/tsconfig-${version}.json`));
}
