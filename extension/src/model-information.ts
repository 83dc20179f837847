// A model as VS Code lists it. It includes fields that aren't in VS Code's types yet, for versions that know them.

import * as vscode from "vscode";

import type { ChatModel } from "../../packages/loader/src/core.js";
import type { Connection } from "./connections.js";
import { linkFree, linkFreeLines } from "./link-free.js";
import { localized } from "./messages.js";

/** The model information that VS Code passes back with each request. */
export interface SluiceModel extends vscode.LanguageModelChatInformation {
  readonly model: ChatModel;
  readonly connection: Connection;
}

/** The built-in gateway's model for conversations; its other models are for tests. */
export const DEMO_MODEL = "sluice/demo";

/** The choice in VS Code's picker that leaves the thinking effort to the model. Without it, nobody could take back another choice. */
export const MODELS_OWN_EFFORT = "default";

/** All of its text may come from a server, and VS Code shows much of it as Markdown, in which even commands work. */
export function information(model: ChatModel, connection: Connection, [id, name]: [string, string] = [model.id, model.name]): SluiceModel {
  const { family, version, maxInputTokens, maxOutputTokens, contextWindow, capabilities } = model;
  return {
    // VS Code's name for the model, which also appears in hovers. Requests use the id in `model`.
    id: linkFree(id),
    name: linkFree(connection.isDemo ? vscode.l10n.t("{0} (demo, not a real model)", name) : name),
    family: linkFree(family),
    version: linkFree(version),
    maxInputTokens,
    maxOutputTokens,
    maxContextWindowTokens: contextWindow,
    capabilities: { imageInput: capabilities.imageInput, toolCalling: capabilities.toolCalling },
    detail: linkFree(model.detail),
    tooltip: linkFreeLines(model.tooltip.map((paragraph) => localized(paragraph, ", ")).join("\n\n")),
    isUserSelectable: model.isUserSelectable,
    category: model.category,
    ...(model.price !== null && !connection.isDemo && { pricing: linkFree(localized([model.price])) }),
    ...(model.priceCategory !== null && !connection.isDemo && { priceCategory: model.priceCategory }),
    infoText: Object.fromEntries(model.info.map((line, index) => [`line ${index + 1}`, linkFree(localized(line, ", "))])),
    // VS Code gives models with this key a badge.
    ...(model.warning === null ? {} : { warningText: { model_pending_deprecation: linkFree(localized([model.warning])) } }),
    ...(model.warning === null && !model.isFavourite
      ? {}
      : { statusIcon: new vscode.ThemeIcon(model.warning === null ? "star-full" : "warning") }),
    // VS Code puts models with such a field at the top of its picker, and shows nothing else of it.
    ...(model.isFeatured && !connection.isDemo ? { promo: { discountPercent: 0, message: "" } } : {}),
    ...configurationSchema(model),
    model,
    connection,
  };
}

/** The pickers for the thinking effort and the context size, in the format of Copilot's own. */
function configurationSchema({ effort, contextSizes }: ChatModel): { configurationSchema?: { properties: { [name: string]: object } } } {
  const properties: { [name: string]: object } = {};
  if (effort !== null) {
    const own: [string, string][] = effort.default === null ? [[MODELS_OWN_EFFORT, vscode.l10n.t("Default")]] : [];
    const values = effort.values.map((value): [string, string] => [value, linkFree(value.charAt(0).toUpperCase() + value.slice(1))]);
    const title = vscode.l10n.t("Thinking Effort");
    properties["reasoningEffort"] = picker("navigation", title, [...own, ...values], effort.default ?? MODELS_OWN_EFFORT);
  }
  if (contextSizes.length > 0) {
    const sizes = contextSizes.map((size): [number, string] => [size, `${Math.round(size / 1000)}K`]);
    properties["contextSize"] = picker("tokens", vscode.l10n.t("Context Size"), sizes, contextSizes.at(-1)!);
  }
  return Object.keys(properties).length === 0 ? {} : { configurationSchema: { properties } };
}

function picker<T extends string | number>(group: string, title: string, choices: readonly [value: T, label: string][], value: T): object {
  const labels = choices.map(([, label]) => label);
  return { type: typeof value, title, enum: choices.map(([choice]) => choice), enumItemLabels: labels, default: value, group };
}
