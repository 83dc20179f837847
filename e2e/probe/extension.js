// Asks every model in SLUICE_E2E_ASK one question, in every window, and records the result.
const fs = require("node:fs");
const path = require("node:path");
const vscode = require("vscode");

exports.activate = () => void run();

async function run() {
  const answers = {};
  for (const id of process.env.SLUICE_E2E_ASK.split(" ")) {
    try {
      const models = await vscode.lm.selectChatModels({ vendor: "sluice" });
      // Word joiners split an address in an id, so that no hover turns it into a link.
      const model = models.find((model) => model.id.replaceAll("\u2060", "") === id);
      const response = await model.sendRequest([vscode.LanguageModelChatMessage.User("hello")]);
      answers[id] = "";
      for await (const text of response.text) answers[id] += text;
    } catch (error) {
      answers[id] = `failed: ${error.message}`;
    }
  }
  const settings = {
    baseUrl: vscode.workspace.getConfiguration("sluice").get("baseUrl"),
    proxy: vscode.workspace.getConfiguration("http").get("proxy"),
  };
  const file = path.join(process.env.SLUICE_E2E_PROBES, `${(vscode.workspace.name ?? "none").replace(/\W+/g, "-")}.json`);
  fs.writeFileSync(`${file}.part`, JSON.stringify({ answers, settings }));
  fs.renameSync(`${file}.part`, file);
}
