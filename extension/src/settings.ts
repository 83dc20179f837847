// The user's settings, as the core wants them. All have application scope: no workspace can change them.

import * as vscode from "vscode";

import type { ChatOptions, ModelSettings, Routing } from "../../crates/sluice-wasm/js/src/core.js";

function setting<T>(name: string, otherwise: T): T {
  return vscode.workspace.getConfiguration("sluice").get<T>(name) ?? otherwise;
}

export function modelSettings(): ModelSettings {
  const first = setting("models.default", "");
  return {
    hide: setting<string[]>("models.hidden", []),
    favourites: setting<string[]>("models.favourites", []),
    default: first === "" ? [] : [first],
  };
}

/** What goes into every request. */
export function chatOptions(): ChatOptions {
  const effort = setting("thinking.effort", "default");
  return {
    ...(effort === "default" ? {} : { reasoningEffort: effort }),
    automaticCaching: setting("caching", true),
    claudeContextManagement: setting("claudeContextManagement", false),
    extraHeaders: extraHeaders(),
    routing: routing(),
    extraBody: {},
  };
}

export function idleTimeoutMs(): number {
  return Math.min(Math.max(setting("idleTimeoutSeconds", 300), 10), 3600) * 1000;
}

export function thinkingFallback(): "hide" | "text" {
  return setting("thinking.fallback", "hide");
}

/** `${env:NAME}` in a value stands for a variable of the environment, so that no secret has to stand in a file. */
function extraHeaders(): { [name: string]: string } {
  const { process } = globalThis as { process?: { env: { [name: string]: string | undefined } } };
  const filled = (value: unknown): string =>
    String(value).replace(/\$\{env:([^}]+)\}/g, (_, name: string) => process?.env[name] ?? "");
  const headers = setting<{ [name: string]: unknown }>("extraHeaders", {});
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, filled(value)]));
}

function routing(): Routing {
  const sort = setting("routing.sort", "default");
  return {
    order: setting<string[]>("routing.order", []),
    only: setting<string[]>("routing.only", []),
    models: setting<string[]>("routing.fallbacks", []),
    ...(sort === "default" ? {} : { sort }),
  };
}
