// Bundles each test together with a mock of `vscode`, then runs them all, or only the files that are named.
import { spawnSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));
const out = join(here, "../dist/test");
const named = process.argv.slice(2);
const tests = named.length > 0 ? named : readdirSync(here).filter((name) => name.endsWith(".test.ts"));
rmSync(out, { recursive: true, force: true });
await build({
  entryPoints: tests.map((name) => join(here, name)),
  outdir: out,
  outExtension: { ".js": ".cjs" },
  bundle: true,
  format: "cjs",
  platform: "node",
  target: "es2022",
  // This is large, and only the test of the texts reads it.
  external: ["typescript"],
  alias: { vscode: join(here, "vscode.ts") },
  // The adapter's build inserts the modules here.
  define: { SLUICE_WASM: "globalThis.SLUICE_WASM", SLUICE_AI_SDK_WASM: '""', SLUICE_IS_SMALL: "false" },
  // As in esbuild.mjs.
  banner: { js: "const bundleStarted = performance.now();" },
  sourcemap: "inline",
  // The mock must have everything that the extension uses.
  logOverride: { "import-is-undefined": "error" },
  logLevel: "warning",
});
const bundles = tests.map((name) => join(out, name.replace(/\.ts$/, ".cjs")));
const reporter = `--test-reporter=${named.length > 0 ? "spec" : "dot"}`;
const arguments_ = ["--enable-source-maps", "--test", reporter, "--test-reporter-destination=stdout", ...bundles];
process.exitCode = spawnSync(process.execPath, arguments_, { stdio: "inherit" }).status ?? 1;
