// `node tasks.mjs SLUICE [LLM [AICHAT]]`: thirty daily tasks with the command line, compared with `llm` and `aichat`, as the table in
// docs/cli.md.
//
// It counts the keys of each command without the question, and measures the time from the start of the program until its
// request has arrived at a server on this machine (the median of several runs), for each program whose path is given.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [sluice, llm, aichat] = process.argv.slice(2);
if (sluice === undefined) {
  console.error("usage: node tasks.mjs SLUICE [LLM [AICHAT]]");
  process.exit(2);
}
const PATHS = { sluice, llm, aichat };
const PROGRAMS = Object.keys(PATHS);
const RUNS = { sluice: 21, llm: 3, aichat: 21 };

/**
 * Each task with the commands for it. `Q` is the question, which isn't counted; other capital letters are counted as one key. A command
 * in an array can't be measured here: it sends nothing, or needs a terminal. A text in parentheses says why there is no command.
 */
const TASKS = [
  ["ask a question", "sluice Q", "llm 'Q'", "aichat Q"],
  ["without quotes around the words", "sluice Q", "–", "aichat Q"],
  ["without an account, to try it", ["sluice Q"], "–", "–"],
  ["add what a pipe has", "cat F | sluice Q", "cat F | llm 'Q'", "cat F | aichat Q"],
  ["only the answer in a file", "sluice Q > A", "llm 'Q' > A", "aichat Q > A"],
  ["send a text file", "sluice -f F Q", "llm -f F 'Q'", "aichat -f F Q"],
  ["send an image", "sluice -f I Q", "llm -a I 'Q'", "aichat -f I Q"],
  ["send a web page", "sluice -f U Q", "llm -f U 'Q'", "aichat -f U Q"],
  ["send a directory", "sluice -f D Q", "(plugin)", "aichat -f D Q"],
  ["give instructions", "sluice -s S Q", "llm -s S 'Q'", "aichat --prompt S Q"],
  ["choose a model", "sluice -m M Q", "llm -m M 'Q'", "aichat -m P:M Q"],
  ["keep a default model", ["sluice config model M"], ["llm models default M"], "(configuration file)"],
  ["set the temperature", "sluice -o temperature=0 Q", "llm -o temperature 0 'Q'", "(configuration file, `.set`)"],
  ["ask another endpoint, with its own key", "sluice -p P Q", "llm -m N 'Q'", "aichat -m P:M Q"],
  ["converse", ["sluice"], ["llm chat"], ["aichat"]],
  ["begin another line of a question", ["Alt-Enter"], ["!multi"], ["Ctrl-O"]],
  ["paste any text as one question", ["paste"], "(one for each line, unless `!multi`)", ["paste"]],
  ["complete models and commands", ["Tab"], "–", ["Tab"]],
  ["continue the last conversation", "sluice -c Q", "llm -c 'Q'", "(sessions have names)"],
  ["search conversations", ["sluice log W"], ["llm logs -q W"], "–"],
  ["take a question back", ["/undo"], "–", "–"],
  ["see Markdown formatted while it streams", ["always"], "–", ["always"]],
  ["print only the code", "sluice -x Q", "llm -x 'Q'", "(`-c` asks for code only)"],
  ["get JSON with a schema, checked", "sluice --schema 'a,b int' Q", "(`--schema`, not checked)", "–"],
  ["use a template", "sluice -t T Q", "llm -t T 'Q'", "aichat -r T Q"],
  ["let the model run tools, with a question before each", "sluice --tools T.json Q", "llm --functions T.py --ta 'Q'", "(no question)"],
  ["read JSON lines as they arrive", "sluice --json Q", "–", "–"],
  ["see tokens and dollars by day", ["sluice usage"], "(tokens of each prompt)", "–"],
  ["count tokens before sending", ["sluice count F"], "–", "(`.info` in a conversation)"],
  ["list models with prices, windows and abilities", ["sluice models"], "(ids)", "(from its own list)"],
];

const QUESTION = "Why is the sky blue?";
const folder = mkdtempSync(join(tmpdir(), "tasks-"));
const place = (...names) => join(folder, ...names);
let arrived;
const server = createServer(async (request, response) => {
  await new Promise((resolve) => request.resume().on("end", resolve));
  if (request.method !== "POST") {
    response.writeHead(200, { "content-type": "text/plain" }).end("A page.");
    return;
  }
  arrived?.(performance.now());
  response.writeHead(200, { "content-type": "text/event-stream" });
  const answer = '{"a":"x","b":1}';
  if (request.url.endsWith("/responses")) {
    const item = { type: "message", id: "m", role: "assistant", status: "completed", content: [{ type: "output_text", text: answer }] };
    response.write(`data: ${JSON.stringify({ type: "response.output_item.done", output_index: 0, item })}\n\n`);
    response.end(`data: ${JSON.stringify({ type: "response.completed", response: { id: "r", status: "completed", output: [item] } })}\n\n`);
  } else {
    const chunk = (delta, finish_reason = null) =>
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    response.end(`${chunk({ role: "assistant", content: answer })}${chunk({}, "stop")}data: [DONE]\n\n`);
  }
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const origin = `http://127.0.0.1:${server.address().port}`;

mkdirSync(place("D"));
mkdirSync(place("home", "templates"), { recursive: true });
mkdirSync(place("llm", "templates"), { recursive: true });
mkdirSync(place("bin"));
writeFileSync(place("F"), "The text of a file.\n");
writeFileSync(place("D", "F"), "The text of a file.\n");
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
writeFileSync(place("I.png"), Buffer.from(png, "base64"));
writeFileSync(place("home", "templates", "T.md"), "Answer briefly: $input\n");
writeFileSync(place("T.json"), JSON.stringify({ tools: [{ name: "now", command: ["date"] }] }));
writeFileSync(place("T.py"), 'def now() -> str:\n    "The time"\n    return "noon"\n');
const profile = { baseUrl: `${origin}/v1`, model: "m" };
writeFileSync(place("home", "profiles.json"), JSON.stringify({ profiles: { P: profile } }), { mode: 0o600 });
writeFileSync(place("llm", "templates", "T.yaml"), "prompt: 'Answer briefly: $input'\n");
const model = (id) =>
  `- model_id: ${id}\n  model_name: m\n  api_base: "${origin}/v1"\n  api_key_name: k\n  vision: true\n  supports_tools: true\n`;
writeFileSync(place("llm", "extra-openai-models.yaml"), model("M") + model("N"));
writeFileSync(place("llm", "keys.json"), '{"k": "x"}');
writeFileSync(place("llm", "default_model.txt"), "M");
const client = {
  type: "openai-compatible",
  name: "P",
  api_base: `${origin}/v1`,
  api_key: "x",
  models: [{ name: "M", supports_vision: true }],
};
mkdirSync(place("aichat", "roles"), { recursive: true });
// JSON is YAML.
writeFileSync(place("aichat", "config.yaml"), JSON.stringify({ model: "P:M", clients: [client] }));
writeFileSync(place("aichat", "roles", "T.md"), "Answer briefly: __INPUT__\n");
for (const [name, program] of Object.entries(PATHS)) {
  if (program !== undefined) writeFileSync(place("bin", name), `#!/bin/sh\nexec ${program} "$@"\n`, { mode: 0o755 });
}
const env = {
  PATH: `${place("bin")}:${process.env.PATH}`,
  HOME: folder,
  SLUICE_HOME: place("home"),
  XDG_CACHE_HOME: place("cache"),
  SLUICE_BASE_URL: `${origin}/v1`,
  SLUICE_MODEL: "m",
  LLM_USER_PATH: place("llm"),
  AICHAT_CONFIG_DIR: place("aichat"),
};

/** Returns the milliseconds until the request has arrived. */
async function once(command, variables) {
  const script = command.replace(/\bQ\b/, QUESTION).replace(/ I /, " I.png ").replace(/ U /, ` ${origin}/page `).replace(/ S /, " Short ");
  const arrival = new Promise((resolve) => (arrived = resolve));
  const started = performance.now();
  const child = spawn("sh", ["-c", script], { cwd: folder, env: variables, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (piece) => (said += piece));
  const ended = new Promise((resolve) => child.on("close", resolve));
  const at = await Promise.race([arrival, ended.then(() => undefined)]);
  await ended;
  if (at === undefined) throw new Error(`${script} sent nothing: ${said}`);
  return at - started;
}

/** Returns the medians of a row. The programs take turns, so that whatever else the machine does affects all of them. */
async function medians(commands) {
  const { SLUICE_BASE_URL: _, ...profileOnly } = env;
  const times = PROGRAMS.map(() => []);
  for (let run = 0; run < Math.max(...Object.values(RUNS)); run++) {
    for (const [column, program] of PROGRAMS.entries()) {
      const command = commands[column];
      if (!canRun(program, command) || run >= RUNS[program]) continue;
      times[column].push(await once(command, command.includes("-p P") ? profileOnly : env));
    }
  }
  return times.map((all) => all.sort((a, b) => a - b)[all.length >> 1]);
}

function canRun(program, task) {
  return typeof task === "string" && !/^[–(]/.test(task) && PATHS[program] !== undefined;
}

/** Returns a cell of the table: the command, its keys, and the time. */
function cell(task, time) {
  if (typeof task === "string" && /^[–(]/.test(task)) return task.replace(/^\((.*)\)$/, "– ($1)");
  const command = typeof task === "string" ? task : task[0];
  const shown = `\`${command.replace("Q", "…").replaceAll("|", "\\|")}\``;
  if (typeof task !== "string" && !/^(sluice|llm|aichat|cat|!|\/)/.test(command)) return command === "always" ? "yes" : command;
  const keys = [...command].filter((key) => key !== "Q").length;
  return `${shown} ${keys}${time === undefined ? "" : `, ${time.toFixed(0)} ms`}`;
}

try {
  console.log("| # | task | `sluice` | `llm` | `aichat` |\n|---|---|---|---|---|");
  for (const [number, [task, ...commands]] of TASKS.entries()) {
    const times = await medians(commands);
    const cells = commands.map((command, column) => cell(command, times[column]));
    console.log(`| ${number + 1} | ${task} | ${cells.join(" | ")} |`);
  }
} finally {
  server.close();
  rmSync(folder, { recursive: true, force: true });
}
