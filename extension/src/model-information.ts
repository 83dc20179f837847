// A model as VS Code lists it. The core decides what is shown (editor/model.rs).

import * as vscode from "vscode";

import type { ListedModel, ShownModel } from "../../packages/loader/src/core.js";
import type { Connection } from "./connections.js";

/** The model information that VS Code passes back with each request. */
export type SluiceModel = vscode.LanguageModelChatInformation &
  Omit<ShownModel, "icon"> & { readonly statusIcon?: vscode.ThemeIcon; readonly model: ListedModel; readonly connection: Connection };

/** Adds what can't cross from the core, and another id and name if there are models with the same ones. */
export function information(model: ListedModel, connection: Connection, [id, name] = [model.shown.id, model.shown.name]): SluiceModel {
  const { icon, ...shown } = model.shown;
  return { ...shown, id, name, ...(icon !== undefined && { statusIcon: new vscode.ThemeIcon(icon) }), model, connection };
}
