// The published types, compiled by a stranger's TypeScript from both module systems.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";

test("the types hold for ES modules and CommonJS", () => {
  const run = () =>
    execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", "--project", "test/types"], {
      cwd: new URL("..", import.meta.url),
      encoding: "utf8",
    });
  try {
    assert.equal(run(), "");
  } catch (error) {
    assert.fail(error.stdout || error.message);
  }
});
