// Waits until all windows are ready, then asks a model many questions at once, and records how many were rejected.
const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");

const { SLUICE_E2E_SPENDERS: folder } = process.env;
const NUMBER = 20;

exports.activate = () => void run();

async function run() {
  const name = (vscode.workspace.name ?? "none").replace(/\W+/g, "-");
  const write = (file, content) => {
    fs.writeFileSync(path.join(folder, `${file}.part`), content);
    fs.renameSync(path.join(folder, `${file}.part`), path.join(folder, file));
  };
  const wait = () => new Promise((resolve) => setTimeout(resolve, 20));
  let model;
  while (model === undefined) {
    await wait();
    model = (await vscode.lm.selectChatModels({ vendor: "sluice" })).find(({ id }) => id === "acme/priced");
  }
  write(`${name}.ready`, "");
  while (!fs.existsSync(path.join(folder, "go"))) {
    await wait();
  }
  const counts = { answered: 0, rejected: 0, failed: [] };
  const ask = async (number) => {
    try {
      const response = await model.sendRequest([vscode.LanguageModelChatMessage.User(`Question ${number} of ${name}`)]);
      for await (const _ of response.text);
      counts.answered += 1;
    } catch ({ message }) {
      if (message.includes("The limit is for one day")) {
        counts.rejected += 1;
      } else {
        counts.failed.push(message);
      }
    }
    write(`${name}.json`, JSON.stringify(counts));
  };
  await Promise.all(Array.from({ length: NUMBER }, (_, number) => ask(number)));
}
