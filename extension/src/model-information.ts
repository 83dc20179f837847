// A model as VS Code lists it. Fields that its types do not have yet are looked for and used where they are known.

import * as vscode from "vscode";

import type { ChatModel } from "../../packages/loader/src/core.js";
import type { Connection } from "./connections.js";
import { linkFree, linkFreeLines } from "./link-free.js";

/** What we give VS Code, and get back with each request. */
export interface SluiceModel extends vscode.LanguageModelChatInformation {
  readonly model: ChatModel;
  readonly connection: Connection;
}

/** The one of the built-in gateway that holds a conversation; its others are for tests. */
export const DEMO_MODEL = "sluice/demo";

/** All of its text may come from a server, and VS Code shows much of it as Markdown in which even commands are live. */
export function information(model: ChatModel, connection: Connection): SluiceModel {
  const { family, version, maxInputTokens, maxOutputTokens, contextWindow, capabilities } = model;
  const name = connection.isDemo ? vscode.l10n.t("{0} (demo, not a real model)", model.name) : model.name;
  return {
    // VS Code's name for it, which stands in hovers too. Requests take the id from `model`.
    id: linkFree(model.id),
    name: linkFree(name),
    family: linkFree(family),
    version: linkFree(version),
    maxInputTokens,
    maxOutputTokens,
    maxContextWindowTokens: contextWindow,
    capabilities: { imageInput: capabilities.imageInput, toolCalling: capabilities.toolCalling },
    detail: linkFree(model.detail),
    tooltip: linkFreeLines(model.tooltip),
    isUserSelectable: model.isUserSelectable,
    ...(model.pricing === null || connection.isDemo ? {} : { pricing: linkFree(model.pricing) }),
    ...(model.effort === null ? {} : { configurationSchema: effortSchema(model.effort) }),
    model,
    connection,
  };
}

/** The picker for the thinking effort, in the shape of Copilot's own. */
function effortSchema({ values, default: byDefault }: NonNullable<ChatModel["effort"]>): { properties: { reasoningEffort: object } } {
  return {
    properties: {
      reasoningEffort: {
        type: "string",
        title: vscode.l10n.t("Thinking Effort"),
        enum: values,
        enumItemLabels: values.map((value) => linkFree(value.charAt(0).toUpperCase() + value.slice(1))),
        default: byDefault,
        group: "navigation",
      },
    },
  };
}
