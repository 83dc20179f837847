// All modules of a program that uses more than one. Each is loaded when it is first needed.

import { type Core, loadCore } from "./core.js";
import { type DemoGateway, loadDemo } from "./demo.js";
import { loadRequests, type Requests } from "./requests.js";
import { loadTokens, type Tokens } from "./tokens.js";

export class Modules {
  readonly #loaded = new Map<string, Promise<unknown>>();

  /** `readFile` reads a module. `onRequests` is called when the requests module is loaded, before anything else uses it. */
  constructor(
    private readonly readFile: (name: string) => PromiseLike<Uint8Array>,
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

  /** Counts tokens. It contains the vocabularies and is by far the largest module. */
  tokens(): Promise<Tokens> {
    return this.#load("sluice_tokens_wasm.wasm", loadTokens);
  }

  /** Reads Gemini's vocabulary, which isn't part of the module because only Gemini's models need it. */
  async vocabulary(): Promise<Uint8Array> {
    return this.readFile("gemma.vocabulary");
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
    const loading = Promise.resolve(this.readFile(name)).then((bytes) => load(bytes as Uint8Array<ArrayBuffer>));
    this.#loaded.set(name, loading);
    // A module that failed to load may load the next time.
    loading.catch(() => this.#loaded.delete(name));
    return loading;
  }
}
