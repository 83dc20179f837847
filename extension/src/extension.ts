// Activation: the provider is registered at once and everything else waits until somebody needs it.

import * as vscode from "vscode";

import { Connections } from "./connections.js";
import { ModelLists } from "./models.js";
import { Provider } from "./provider.js";
import { Modules } from "./wasm.js";

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("Sluice", { log: true });
  const modules = new Modules(context.extensionUri);
  const provider = new Provider({
    modules,
    connections: new Connections(modules, context, log),
    lists: new ModelLists(modules, context.globalStorageUri, log),
    log,
    images: vscode.Uri.joinPath(context.globalStorageUri, "images"),
  });
  context.subscriptions.push(log, vscode.lm.registerLanguageModelChatProvider("sluice", provider));
}
