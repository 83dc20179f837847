// Builds one bundle for both extension hosts; nothing in it needs Node. A second bundle is the thread that builds
// vocabularies, for hosts with Node.
import { build } from "esbuild";

await build({
  entryPoints: { extension: "src/extension.ts", "vocabulary-thread": "../packages/loader/src/vocabulary-thread.ts" },
  outdir: "dist",
  bundle: true,
  format: "cjs",
  platform: "browser",
  target: "es2022",
  external: ["vscode", "node:fs", "node:http", "node:worker_threads"],
  minify: true,
  sourcemap: false,
  legalComments: "none",
  logLevel: "warning",
  // Activation begins when the first line of the bundle runs.
  banner: { js: "const bundleStarted = performance.now();" },
});
