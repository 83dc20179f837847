// The user's settings, in the core's format. All have application scope, so no workspace can change them.

import * as vscode from "vscode";

import type { ChatOptions, ModelSettings, Routing } from "../../packages/loader/src/core.js";
import type { Requests } from "../../packages/loader/src/requests.js";
import { settingsBaseUrl } from "./connections.js";
import { hostProcess } from "./host-process.js";

function setting<T>(name: string, otherwise: T): T {
  return vscode.workspace.getConfiguration("sluice").get<T>(name) ?? otherwise;
}

export function modelSettings(): ModelSettings {
  const first = setting("models.default", "");
  return {
    hide: setting<string[]>("models.hidden", []),
    favourites: setting<string[]>("models.favourites", []),
    default: first === "" ? [] : [first],
    ...effortSetting(),
  };
}

function effortSetting(): { effort?: string } {
  const effort = setting("thinking.effort", "default");
  return effort === "default" ? {} : { effort };
}

/** The settings that apply to every request to a server. */
export function chatOptions(requests: Requests, origin: string): ChatOptions {
  const { effort } = effortSetting();
  return {
    ...(effort === undefined ? {} : { reasoningEffort: effort }),
    automaticCaching: setting("caching", true),
    claudeContextManagement: setting("claudeContextManagement", false),
    extraHeaders: extraHeaders(requests).get(origin) ?? {},
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

/**
 * The extra headers. Like keys, each belongs to one origin: `{"https://host": {"x-team": "blue"}}`. Headers without an
 * address belong to the origin of `sluice.baseUrl`. `${env:NAME}` in a value is replaced by an environment variable, so
 * that no secret has to be in a file.
 *
 * Headers for an invalid address stay under that address, which isn't the origin of any server.
 */
export function extraHeaders(requests: Requests): Map<string, { [name: string]: string }> {
  const { env } = hostProcess();
  const filled = (value: unknown): string => String(value).replace(/\$\{env:([^}]+)\}/g, (_, name: string) => env[name] ?? "");
  const found = new Map<string, { [name: string]: string }>();
  const add = (address: string, headers: object): void => {
    const origin = originOf(requests, address) ?? address;
    const all = Object.entries(headers).map(([name, value]): [string, string] => [name, filled(value)]);
    found.set(origin, { ...found.get(origin), ...Object.fromEntries(all) });
  };
  for (const [name, value] of Object.entries(setting<{ [name: string]: unknown }>("extraHeaders", {}))) {
    if (typeof value === "object" && value !== null) {
      add(name, value);
    } else {
      add(settingsBaseUrl(), { [name]: value });
    }
  }
  return found;
}

/** Returns the origin of an address, or undefined if nothing may be sent there. */
export function originOf(requests: Requests, address: string): string | undefined {
  const parsed = requests.parseEndpoint(address);
  return "code" in parsed ? undefined : parsed.origin;
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
