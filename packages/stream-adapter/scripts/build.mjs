// node scripts/build.mjs MODULE: builds the package from its sources and the compiled core (`cargo xtask adapter`
// passes its path). Writes dist/index.mjs and dist/index.cjs, which contain the core, and the types for both.

import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const wasm = process.argv[2];
if (wasm === undefined) {
  console.error("usage: node scripts/build.mjs MODULE  (cargo xtask adapter builds the module and calls this)");
  process.exit(2);
}
const root = resolve(import.meta.dirname, "..");
const dist = join(root, "dist");

for (const [format, file] of [
  ["esm", "index.mjs"],
  ["cjs", "index.cjs"],
]) {
  await build({
    entryPoints: [join(root, "src/index.ts")],
    outfile: join(dist, file),
    format,
    bundle: true,
    platform: "neutral",
    target: "es2022",
    external: ["vscode"],
    define: { SLUICE_WASM_BASE64: JSON.stringify(readFileSync(wasm).toString("base64")) },
    logLevel: "warning",
  });
}

const node = (script, ...args) => execFileSync(process.execPath, [script, ...args], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
const require = createRequire(import.meta.url);
const tsc = require.resolve("typescript/bin/tsc");
execFileSync(process.execPath, [tsc], { cwd: root, stdio: "inherit" });
node(
  require.resolve("dts-bundle-generator/dist/bin/dts-bundle-generator.js"),
  "--silent",
  "--no-banner",
  "--project",
  "tsconfig.json",
  "-o",
  "dist/index.d.mts",
  "src/index.ts",
);
writeFileSync(join(dist, "index.d.cts"), readFileSync(join(dist, "index.d.mts")));

// The sample finds the package as any extension would: in its node_modules.
const installed = join(root, "sample/node_modules/@sluice/stream-adapter");
for (const name of ["package.json", "README.md", "dist"]) {
  cpSync(join(root, name), join(installed, name), { recursive: true });
}

const size = (file) => `${(statSync(file).size / 1024).toFixed(0)} KiB, ${(gzipSync(readFileSync(file)).length / 1024).toFixed(0)} gzipped`;
console.log(`@sluice/stream-adapter: ${size(join(dist, "index.mjs"))}; the core in it: ${size(wasm)}`);
