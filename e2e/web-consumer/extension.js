// Uses the models from within the web worker host. It is a single file, because `require` only knows `vscode` there.
const vscode = require("vscode");

exports.activate = async () => {
  const result = { host: typeof importScripts === "function" && typeof process === "undefined" ? "web worker" : "another" };
  try {
    await ask(result);
  } catch (error) {
    result.error = String(error);
  }
  const file = vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, "result.json");
  await vscode.workspace.fs.writeFile(file, new TextEncoder().encode(`${JSON.stringify(result)}\n`));
};

async function ask(result) {
  const models = await vscode.lm.selectChatModels({ vendor: "sluice" });
  result.models = models.map((model) => model.id);
  const [model] = models;
  result.count = await model.countTokens("The quick brown fox jumps over the lazy dog.");
  const say = async (text, options) => (await model.sendRequest([vscode.LanguageModelChatMessage.User(text)], options)).stream;
  result.answer = "";
  for await (const part of await say("Hello! Who are you?")) if (part instanceof vscode.LanguageModelTextPart) result.answer += part.value;
  const tool = {
    name: "read_file",
    description: "Reads a file",
    inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  };
  result.calls = [];
  for await (const part of await say("Please read the file notes.md", { tools: [tool] })) {
    if (part instanceof vscode.LanguageModelToolCallPart) result.calls.push({ name: part.name, input: part.input });
  }
}
