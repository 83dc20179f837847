// Builds one bundle for both extension hosts, and one for the inspector's page; nothing in them needs Node.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

/** The maximum size of the inspector's page, compressed. */
const MAX_VIEW_BYTES = 150_000;

const common = {
  outdir: "dist",
  bundle: true,
  target: "es2022",
  minify: true,
  sourcemap: false,
  legalComments: "none",
  logLevel: "warning",
};

await build({
  ...common,
  entryPoints: ["src/extension.ts"],
  format: "cjs",
  platform: "browser",
  external: ["vscode", "node:fs", "node:http"],
  // Activation begins when the first line of the bundle runs.
  banner: { js: "const bundleStarted = performance.now();" },
});
await build({ ...common, entryPoints: { view: "view/main.tsx" }, format: "esm", jsx: "automatic", jsxImportSource: "preact" });
await build({ ...common, entryPoints: ["view/view.css"] });
const viewBytes = ["view.js", "view.css"].reduce((sum, name) => sum + gzipSync(readFileSync(`dist/${name}`)).length, 0);
if (viewBytes > MAX_VIEW_BYTES) {
  throw new Error(`the inspector's page has ${viewBytes} bytes`);
}
