// code-server lets every extension use proposed API. Real VS Code does not, so a test there could not catch an extension
// that would fail for everybody else. This puts the rule of the real one back: a proposal needs to be in the manifest, and
// allowed by the product. Run once after installing; says so if the bundles no longer look as expected.
import fs from "node:fs";
import path from "node:path";

const out = process.argv[2];
const NAME = String.raw`[\w$]+`;
// isProposedApiEnabled, cut down to `return true`, told by its neighbour that throws if it is not.
const always = new RegExp(
  String.raw`function (${NAME})\((${NAME}),(${NAME})\)\{return!0\}(?=function ${NAME}\(${NAME},${NAME}\)\{if\(!\1\()`,
  "g",
);
const forAll = "_envEnablesProposedApiForAll=!0";
const bundles = [
  "server-main.js",
  "vs/code/browser/workbench/workbench.js",
  "vs/workbench/api/node/extensionHostProcess.js",
  "vs/workbench/api/worker/extensionHostWorkerMain.js",
];

let changed = 0;
for (const bundle of bundles) {
  const file = path.join(out, bundle);
  const source = fs.readFileSync(file, "utf8");
  const strict = source
    .replace(always, (_, name, extension, proposal) => {
      return `function ${name}(${extension},${proposal}){return!!${extension}.enabledApiProposals?.includes(${proposal})}`;
    })
    .replace(forAll, "_envEnablesProposedApiForAll=!1");
  if (strict !== source) {
    changed += 1;
    // Another hard link to the same file must not change with it.
    fs.rmSync(file);
    fs.writeFileSync(file, strict);
  }
}
if (changed === 0) {
  console.error("The bundles of code-server look different: proposed API stays open to everybody. Adapt e2e/strict.mjs.");
  process.exit(1);
}
