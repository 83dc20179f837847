// Compiles the published types with TypeScript, as a user of the package would, from both module systems.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
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

test("the types are valid for ES modules and CommonJS", () => compile("test/types"));

for (const version of [5, 6, 7]) {
  test(`version ${version} of the AI SDK accepts the types`, () => compile(`test/types/sdks/tsconfig-${version}.json`));
}
