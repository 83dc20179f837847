// Runs the whole extension with the real WebAssembly modules and a mock of VS Code. The embedded gateway plays the
// server, unless a test answers first.

import assert from "node:assert/strict";
import { EventEmitter as NodeEvents } from "node:events";
import { readFileSync } from "node:fs";
import http from "node:http";

import * as vscode from "vscode";

import { type DemoGateway, loadDemo } from "../../packages/loader/src/demo.js";
import { activate, deactivate } from "../src/extension.js";
import type { FromView, Question, ToView } from "../view/protocol.js";
import { EventEmitter, fake, Secrets } from "./vscode.js";

export const KEY = "entered-canary-key";
export const BASE_URL = "https://gateway.example/v1";
export const keyed = { configuration: { apiKey: KEY, baseUrl: BASE_URL } };
export const manifest = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
export const modules = ["sluice_wasm", "sluice_requests_wasm", "sluice_demo_wasm", "sluice_tokens_wasm"].map(
  (name): [string, Uint8Array] => {
    const folder = process.env["SLUICE_WASM_DIR"] ?? "../target/wasm32-unknown-unknown/wasm";
    return [`/extension/dist/${name}.wasm`, readFileSync(`${folder}/${name}.wasm`)];
  },
);
modules.push(["/extension/dist/gemma.vocabulary", readFileSync("../crates/sluice-core/data/gemma.vocabulary")]);

/** How long the extension waits for lists of models, in milliseconds. */
const PATIENCE_MS = [10_000, 30_000];
const { setTimeout } = globalThis;
// On a busy machine, the servers of tests may take longer. What happens then has tests with their own clocks.
globalThis.setTimeout = ((run: () => void, ms: number) =>
  PATIENCE_MS.includes(ms) ? setTimeout(run, 2 ** 31 - 1).unref() : setTimeout(run, ms)) as typeof setTimeout;

/** A server on this machine. Requests to it bypass `fetch`, so they are passed on to the `fetch` of the test here. */
export const LOCAL = "https://127.0.0.1:4000";
/** The origins of servers that don't exist, whose requests bypass `fetch`. A test can add more. */
export const FAKED = new Set([LOCAL]);

class LocalRequest extends NodeEvents {
  constructor(
    private readonly url: URL,
    private readonly init: RequestInit,
  ) {
    super();
  }

  end(body: string): void {
    fetch(this.url.href, { ...this.init, body })
      .then((response) => {
        const rawHeaders = [...response.headers].flat();
        this.emit("response", Object.assign(response.body ?? [], { statusCode: response.status, rawHeaders, resume: () => undefined }));
      })
      .catch((error: unknown) => this.emit("error", error));
  }

  destroy(): void {
    this.emit("close");
  }
}

http.ClientRequest = new Proxy(http.ClientRequest, {
  construct: (real, [url, init]: [URL, RequestInit]) =>
    FAKED.has(url.origin) ? new LocalRequest(url, init) : Reflect.construct(real, [url, init]),
});

export interface Sent {
  readonly url: string;
  readonly key: string | null;
  readonly headers: Headers;
  readonly body: string;
  status?: number;
}

/** What the extension offers to VS Code. */
export interface Provider {
  provideLanguageModelChatInformation(options: object, token: object): Promise<{ id: string; name: string; isUserSelectable: boolean }[]>;
  provideLanguageModelChatResponse(...values: unknown[]): Promise<void>;
  onDidChangeLanguageModelChatInformation(listener: () => void): unknown;
}

/** Returns the body of a request, which is bytes, except for retries without some parameters. */
export function textOf({ body }: RequestInit): string {
  return body instanceof Uint8Array ? new TextDecoder().decode(body) : String(body ?? "");
}

type Answer = Response | Error | undefined;

export interface StartOptions {
  /** What the user entered in Manage Models: one group, or several. */
  readonly configuration?: object | object[];
  /** Answers instead of the embedded gateway. If it returns an error, that is thrown. */
  readonly intercept?: (url: string, init: RequestInit) => Answer | Promise<Answer>;
  readonly environment?: { readonly [name: string]: string };
  /** Whether Sluice has just been installed. */
  readonly isNew?: boolean;
}

export async function start(options: StartOptions = {}) {
  // What the extension of an earlier test has to save must not appear in this one.
  await deactivate();
  fake.reset();
  modules.forEach(([path, bytes]) => fake.files.set(path, bytes));
  // Most tests are about users who have seen the greeting.
  const state = new Map<string, unknown>([["greeted", options.isNew !== true]]);
  for (const name of ["SLUICE_API_KEY", "AI_GATEWAY_API_KEY", "VERCEL_OIDC_TOKEN", "SLUICE_BASE_URL"]) {
    delete process.env[name];
  }
  Object.assign(process.env, options.environment);
  fake.settings.set("sluice.baseUrl", "https://ai-gateway.vercel.sh/v1");
  const gateway: DemoGateway = await loadDemo(modules[2]![1] as Uint8Array<ArrayBuffer>);
  const sent: Sent[] = [];
  globalThis.fetch = async (input, init = {}): Promise<Response> => {
    const url = String(input);
    const headers = new Headers(init.headers);
    const request: Sent = { url, key: headers.get("authorization"), headers, body: textOf(init) };
    sent.push(request);
    const instead = await options.intercept?.(url, init);
    if (instead instanceof Error) {
      throw instead;
    }
    const response = instead ?? (await gateway.fetch(url, init));
    request.status = response.status;
    return response;
  };

  const secrets = new Secrets();
  const workspaceState = new Map<string, unknown>();
  const context = {
    extensionUri: vscode.Uri.file("/extension"),
    globalStorageUri: vscode.Uri.file("/storage"),
    storageUri: vscode.Uri.file("/workspace-storage"),
    workspaceState: {
      get: (key: string, otherwise?: unknown) => workspaceState.get(key) ?? otherwise,
      update: async (key: string, value: unknown) => void workspaceState.set(key, value),
    },
    globalState: {
      get: (key: string, otherwise?: unknown) => state.get(key) ?? otherwise,
      update: async (key: string, value: unknown) => void state.set(key, value),
    },
    secrets,
    subscriptions: [],
    extension: { id: "sluice.sluice", packageJSON: manifest },
  } as unknown as vscode.ExtensionContext;
  activate(context);
  let provider = fake.providers[0] as Provider;
  const groups = [undefined, ...(options.configuration === undefined ? [] : [options.configuration].flat())];
  fake.resolveModels = async () => {
    const lists: object[][] = [];
    for (const configuration of groups) {
      lists.push(await provider.provideLanguageModelChatInformation({ silent: true, configuration }, {}).catch(() => []));
    }
    return lists.flat();
  };
  let asked = 0;
  provider.onDidChangeLanguageModelChatInformation(() => asked++);
  const run = async (name: string, ...answers: (string | undefined)[]): Promise<string[]> => {
    fake.answers = answers;
    fake.seen = [];
    await vscode.commands.executeCommand(`sluice.${name}`);
    assert.deepEqual([fake.answers, fake.mistakes], [[], []], "every answer was asked for, and no other");
    // The text as a person reads it; notify.test.ts checks the word joiners.
    return fake.seen.map((text) => text.replaceAll("\u2060", ""));
  };

  /** Sends a question to the first model of a group, as VS Code's chat would. */
  const chat = async (
    configuration: object,
    prompt: string,
    cancel?: EventEmitter<void>,
    modelOptions?: object,
  ): Promise<{ parts: unknown[]; error?: Error }> => {
    const [model] = await provider.provideLanguageModelChatInformation({ silent: true, configuration }, {});
    assert(model !== undefined);
    const parts: unknown[] = [];
    const token = { isCancellationRequested: false, onCancellationRequested: (cancel ?? new EventEmitter<void>()).event };
    const message = { role: 1, content: [new vscode.LanguageModelTextPart(prompt)], name: undefined };
    const options = { toolMode: 1, requestInitiator: "GitHub.copilot-chat", modelOptions };
    try {
      await provider.provideLanguageModelChatResponse(model, [message], options, { report: (part: unknown) => parts.push(part) }, token);
      return { parts };
    } catch (error) {
      return { parts, error: error as Error };
    }
  };
  /** Closes VS Code and opens it again. Only files, secrets and the state are still there. */
  const restart = async (): Promise<Provider> => {
    await deactivate();
    activate(context);
    return (provider = fake.providers.at(-1) as Provider);
  };
  return { run, sent, provider, secrets, state, chat, restart, changes: () => asked };
}

/** Returns what a user would see of the parts of an answer. */
export function shown(parts: readonly unknown[]): string[] {
  const isMarker = (part: unknown): boolean => part instanceof vscode.LanguageModelDataPart && part.mimeType === "stateful_marker";
  return parts
    .filter((part) => !isMarker(part))
    .map((part) => {
      if (part instanceof vscode.LanguageModelTextPart) {
        return part.value;
      }
      if (part instanceof vscode.LanguageModelToolCallPart) {
        return `call ${part.name} ${JSON.stringify(part.input)}`;
      }
      return part instanceof vscode.LanguageModelDataPart ? part.mimeType : "thinking";
    });
}

/** Returns an answer as an event stream. */
export function streamed(...events: object[]): Response {
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

/** Opens the view, as VS Code does when the user clicks on its icon. */
export function openView() {
  const messages = new EventEmitter<FromView>();
  const visible = new EventEmitter<void>();
  const posted: ToView[] = [];
  const waiting = new Map<number, (answer: unknown) => void>();
  const webview = {
    html: "",
    options: {} as vscode.WebviewOptions,
    cspSource: "https://resources.example",
    asWebviewUri: (uri: vscode.Uri) => uri,
    onDidReceiveMessage: messages.event,
    postMessage: async (message: ToView) => {
      posted.push(message);
      if ("number" in message) waiting.get(message.number)?.(message.answer);
    },
  };
  const closed = new EventEmitter<void>();
  fake.views[0]!.resolveWebviewView({ webview, visible: true, onDidChangeVisibility: visible.event, onDidDispose: closed.event });
  let number = 0;
  const ask = <T>(question: Question): Promise<T> =>
    new Promise((resolve) => {
      number += 1;
      waiting.set(number, (answer) => resolve(answer as T));
      messages.fire({ number, question });
    });
  return { webview, posted, ask, visible, closed };
}
