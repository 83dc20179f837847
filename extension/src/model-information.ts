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

/** All of its text may come from a server, and VS Code shows much of it as Markdown, in which even commands work. */
export function information(model: ChatModel, connection: Connection, before = 0): SluiceModel {
  const { family, version, maxInputTokens, maxOutputTokens, contextWindow, capabilities } = model;
  // The agent host selects a model by its id, and a subagent by its name, and neither knows the groups of keys. `before`
  // groups have listed this model already.
  const { host } = new URL(connection.endpoint.origin);
  const which = before > 1 ? `${host} ${before}` : host;
  const own = before > 0 ? `${model.name} (${which})` : model.name;
  const name = connection.isDemo ? vscode.l10n.t("{0} (demo, not a real model)", model.name) : own;
  return {
    // VS Code's name for the model, which also appears in hovers. Requests use the id in `model`.
    id: linkFree(before > 0 ? `${model.id}#${which.replace(" ", "-")}` : model.id),
    name: linkFree(name),
    family: linkFree(family),
    version: linkFree(version),
    maxInputTokens,
    maxOutputTokens,
    maxContextWindowTokens: contextWindow,
    capabilities: { imageInput: capabilities.imageInput, toolCalling: capabilities.toolCalling },
    detail: linkFree(model.detail),
    tooltip: linkFreeLines(model.tooltip.map((paragraph) => localized(paragraph, ", ")).join("\n\n")),
    isUserSelectable: model.isUserSelectable,
    ...(model.pricing.length === 0 || connection.isDemo ? {} : { pricing: linkFree(localized(model.pricing, ", ")) }),
    ...(model.effort === null ? {} : { configurationSchema: effortSchema(model.effort) }),
    model,
    connection,
  };
}

/** The picker for the thinking effort, in the format of Copilot's own. */
function effortSchema({ values, default: byDefault }: NonNullable<ChatModel["effort"]>): { properties: { reasoningEffort: object } } {
  return {
    properties: {
      reasoningEffort: {
        type: "string",
        title: vscode.l10n.t("Thinking Effort"),
        enum: values,
        enumItemLabels: values.map((value) => linkFree(value.charAt(0).toUpperCase() + value.slice(1))),
        ...(byDefault === null ? {} : { default: byDefault }),
        group: "navigation",
      },
    },
  };
}
