// node scripts/build.mjs FOLDER: builds the package from its sources and the compiled modules in a folder (`cargo xtask
// adapter` passes it). There are five entry points, each as an ES module and as CommonJS, with types:
//
//   index     the adapters, with their cores in it
//   ai-sdk    the adapter for the AI SDK alone, with its core in it
//   slim      the adapters without their cores, which are the files core.wasm and ai-sdk.wasm
//   messages  requests from VS Code's messages, with the requests module in it
//   tokens    token counts. Its module has megabytes, so both formats share one file, vocabularies.cjs

import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { compress } from "lzma1";

const folder = process.argv[2];
if (folder === undefined) {
  console.error("usage: node scripts/build.mjs FOLDER  (cargo xtask adapter builds the modules and calls this)");
  process.exit(2);
}
const root = resolve(import.meta.dirname, "..");
const dist = join(root, "dist");
const core = join(folder, "sluice_wasm.wasm");
const aiSdk = join(folder, "sluice_ai_sdk_wasm.wasm");
const gzipped = (file) => JSON.stringify(gzipSync(readFileSync(file), { level: 9 }).toString("base64"));
/** LZMA makes it a fifth smaller than gzip does, but takes longer to unpack. */
const packed = (file) => JSON.stringify(Buffer.from(compress(readFileSync(file), 9)).toString("base64"));

rmSync(dist, { recursive: true, force: true });
const ENTRIES = {
  index: { source: "index.ts", define: { SLUICE_WASM: gzipped(core), SLUICE_AI_SDK_WASM: gzipped(aiSdk) } },
  "ai-sdk": { source: "ai-sdk.ts", define: { SLUICE_WASM: '""', SLUICE_AI_SDK_WASM: packed(aiSdk), SLUICE_IS_SMALL: "true" } },
  slim: { source: "index.ts", define: { SLUICE_WASM: '""', SLUICE_AI_SDK_WASM: '""' } },
  messages: { source: "messages.ts", define: { SLUICE_REQUESTS_WASM: gzipped(join(folder, "sluice_requests_wasm.wasm")) } },
  tokens: { source: "tokens.ts", define: {} },
};
const besideEntries = {
  name: "files beside the entry points",
  setup: ({ onResolve }) => onResolve({ filter: /^\.\/vocabularies\.cjs$/ }, ({ path }) => ({ path, external: true })),
};
for (const [name, { source, define }] of Object.entries(ENTRIES)) {
  for (const [format, extension] of [
    ["esm", "mjs"],
    ["cjs", "cjs"],
  ]) {
    await build({
      entryPoints: [join(root, "src", source)],
      outfile: join(dist, `${name}.${extension}`),
      format,
      bundle: true,
      minify: true,
      platform: "neutral",
      target: "es2022",
      external: ["vscode"],
      plugins: [besideEntries],
      define: { SLUICE_IS_SMALL: "false", ...define },
      logLevel: "warning",
    });
  }
}
writeFileSync(join(dist, "vocabularies.cjs"), `module.exports=${gzipped(join(folder, "sluice_tokens_wasm.wasm"))};\n`);
copyFileSync(core, join(dist, "core.wasm"));
copyFileSync(aiSdk, join(dist, "ai-sdk.wasm"));

const node = (script, ...args) => execFileSync(process.execPath, [script, ...args], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
const require = createRequire(import.meta.url);
const tsc = require.resolve("typescript/bin/tsc");
execFileSync(process.execPath, [tsc], { cwd: root, stdio: "inherit" });
for (const name of ["index", "ai-sdk", "messages", "tokens"]) {
  node(
    require.resolve("dts-bundle-generator/dist/bin/dts-bundle-generator.js"),
    "--silent",
    "--no-banner",
    "--project",
    "tsconfig.json",
    "-o",
    `dist/${name}.d.mts`,
    `src/${name}.ts`,
  );
}
for (const [from, to] of [
  ["index.d.mts", "index.d.cts"],
  ["index.d.mts", "slim.d.mts"],
  ["index.d.mts", "slim.d.cts"],
  ["ai-sdk.d.mts", "ai-sdk.d.cts"],
  ["messages.d.mts", "messages.d.cts"],
  ["tokens.d.mts", "tokens.d.cts"],
]) {
  copyFileSync(join(dist, from), join(dist, to));
}

// The samples find the package as any extension would: in their node_modules.
for (const sample of ["sample", "sample-ai-sdk"]) {
  for (const name of ["package.json", "README.md", "dist"]) {
    cpSync(join(root, name), join(root, sample, "node_modules/@sluice/stream-adapter", name), { recursive: true });
  }
}
// The tests have several versions of the SDK, each under a name of its own.
await build({
  absWorkingDir: join(root, "e2e"),
  alias: { ai: "ai-7", "@ai-sdk/open-responses": "open-responses-2" },
  entryPoints: [join(root, "sample-ai-sdk/extension.ts")],
  outfile: join(root, "sample-ai-sdk/dist/extension.js"),
  bundle: true,
  platform: "node",
  format: "cjs",
  external: ["vscode"],
  logLevel: "warning",
});

/** The most that a file may have, compressed, in KiB. */
const LIMITS = { "ai-sdk.mjs": 120 };
for (const name of ["index.mjs", "ai-sdk.mjs", "slim.mjs", "core.wasm", "ai-sdk.wasm", "messages.mjs", "vocabularies.cjs"]) {
  const file = join(dist, name);
  const [size, compressed] = [statSync(file).size, gzipSync(readFileSync(file), { level: 9 }).length].map((bytes) => bytes / 1024);
  const limit = LIMITS[name];
  const aim = limit === undefined ? "" : ` (limit: ${limit})`;
  console.log(`@sluice/stream-adapter, ${name}: ${size.toFixed(0)} KiB, ${compressed.toFixed(1)} KiB gzipped${aim}`);
  if (compressed > limit) {
    console.error(`${name} is too large.`);
    process.exitCode = 1;
  }
}
