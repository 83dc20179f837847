// What our extension costs in long sessions, with 150 models and long conversations. The suite `session` runs these.
const assert = require("node:assert/strict");
const { setFlagsFromString } = require("node:v8");
const { runInNewContext } = require("node:vm");
const vscode = require("vscode");
const { assistant, model, parts, until, user } = require("../ask");
const figures = require("../figures");
const { profile } = require("../profile");

const MODELS = 150;
const REQUESTS = 100;
const began = performance.now();

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc");

const list = () => vscode.lm.selectChatModels({ vendor: "sluice" });
const median = (values) => values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];

/** Returns a conversation of about this many bytes, with calls and their results. */
function conversation(bytes) {
  const messages = [user("Tidy the project up.")];
  const line = "    const total = items.reduce((sum, item) => sum + item.price, 0); // of the whole order\n";
  const result = line.repeat(200);
  for (let at = 0; at * result.length < bytes; at++) {
    const callId = `gw-${at}`;
    messages.push(assistant([new vscode.LanguageModelToolCallPart(callId, "read_file", { path: `src/file${at}.ts` })]));
    messages.push(user([new vscode.LanguageModelToolResultPart(callId, [new vscode.LanguageModelTextPart(`${at}\n${result}`)])]));
  }
  return [...messages, user("Go on.")];
}

exports.first = [
  [
    `${MODELS} models are listed`,
    async () => {
      await until("the models are there", async () => (await list()).length === MODELS);
      const runs = [];
      for (let round = 0; round < 15; round++) runs.push(await profile(list));
      figures.note(`selectChatModels with ${MODELS} models: our own ms (aim: <= 15)`, median(runs.map(({ total }) => total)));
    },
  ],
  [
    "a conversation of 2 MB",
    async () => {
      const one = await model("vendor0/model-0");
      const messages = conversation(2_000_000);
      await parts(one, messages);
      const runs = [];
      for (let round = 0; round < 9; round++) runs.push(await profile(() => parts(one, messages)));
      figures.note("2 MB of history: our own ms", median(runs.map(({ total }) => total)));
      figures.note("2 MB of history: our longest stall in ms (aim: <= 30)", median(runs.map(({ longest }) => longest)));
    },
  ],
  [
    `${REQUESTS} requests of 700 KB`,
    async () => {
      const one = await model("vendor0/model-0");
      const ask = async () => assert.ok((await parts(one, conversation(700_000))).length > 0);
      for (let round = 0; round < 5; round++) await ask();
      collectGarbage();
      const before = process.memoryUsage().rss;
      for (let round = 0; round < REQUESTS; round++) await ask();
      collectGarbage();
      figures.note(`after ${REQUESTS} requests of 700 KB: resident MB more (aim: <= 50)`, (process.memoryUsage().rss - before) / 1e6);
    },
  ],
];

exports.again = [
  [
    "models are listed from the cache",
    async () => {
      await until("the models are there", async () => (await list()).length === MODELS);
      figures.note("models from the cache: ms after the host began to start extensions (aim: <= 300)", performance.now() - began);
    },
  ],
];
