// code-server lets every extension use proposed API. The real VS Code doesn't, so a test there couldn't detect an
// extension that fails for all other users. This restores the real rule: a proposal must be in the manifest and be
// allowed by the product. It is run once after installing, and reports if the bundles no longer look as expected.
import fs from "node:fs";
import path from "node:path";

const out = process.argv[2];
const NAME = String.raw`[\w$]+`;
// Matches isProposedApiEnabled, whose body is only `return true`. It is recognized by the function after it, which throws
// if the first one returns false.
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
