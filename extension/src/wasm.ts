// The WebAssembly modules of this extension. Each is loaded when it is first needed.

import * as vscode from "vscode";

import { type Core, loadCore } from "../../packages/loader/src/core.js";
import { type DemoGateway, loadDemo } from "../../packages/loader/src/demo.js";
import { loadRequests, type Requests } from "../../packages/loader/src/requests.js";
import { Tokens } from "../../packages/loader/src/tokens.js";
import { buildOnThread } from "./vocabulary.js";

export class Modules {
  readonly #loaded = new Map<string, Promise<unknown>>();

  /** `onRequests` is called when the requests module is loaded, before anything else uses it. */
  constructor(
    private readonly extension: vscode.Uri,
    private readonly onRequests: (requests: Requests) => void = () => undefined,
  ) {}

  /** Reads answers. */
  core(): Promise<Core> {
    return this.#load("sluice_wasm.wasm", loadCore);
  }

  /** Builds requests and lists models. */
  requests(): Promise<Requests> {
    return this.#load("sluice_requests_wasm.wasm", async (bytes) => {
      const requests = await loadRequests(bytes);
      this.onRequests(requests);
      return requests;
    });
  }

  /**
   * Counts tokens. It contains the vocabularies and is by far the largest module. The model's vocabulary is built
   * immediately.
   */
  tokens(model: string): Promise<Tokens> {
    return this.#load("sluice_tokens_wasm.wasm", async (bytes) => {
      const module = await WebAssembly.compile(bytes);
      const tokens = new Tokens(module, await buildOnThread(this.extension, { module, model }));
      tokens.prepare(model);
      return tokens;
    });
  }

  /** Answers instead of a server as long as there is no key. */
  demo(): Promise<DemoGateway> {
    return this.#load("sluice_demo_wasm.wasm", loadDemo);
  }

  #load<T>(name: string, load: (bytes: BufferSource) => Promise<T>): Promise<T> {
    const known = this.#loaded.get(name) as Promise<T> | undefined;
    if (known !== undefined) {
      return known;
    }
    const file = vscode.Uri.joinPath(this.extension, "dist", name);
    const loading = Promise.resolve(vscode.workspace.fs.readFile(file)).then((bytes) => load(bytes as Uint8Array<ArrayBuffer>));
    this.#loaded.set(name, loading);
    // A module that failed to load may load the next time.
    loading.catch(() => this.#loaded.delete(name));
    return loading;
  }
}
