// Compiles the published types with TypeScript, as a user of the package would, from both module systems.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { test } from "node:test";

const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");

test("the types are valid for ES modules and CommonJS", () => {
  const run = () =>
    execFileSync(process.execPath, [tsc, "--project", "test/types"], {
      cwd: new URL("..", import.meta.url),
      encoding: "utf8",
    });
  try {
    assert.equal(run(), "");
  } catch (error) {
    assert.fail(error.stdout || error.message);
  }
});
