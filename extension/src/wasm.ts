// The WebAssembly modules of this extension, each loaded when it is first needed and not before.

import * as vscode from "vscode";

import { type Core, loadCore } from "../../crates/sluice-wasm/js/src/core.js";
import { type DemoGateway, loadDemo } from "../../crates/sluice-wasm/js/src/demo.js";
import { type Requests, loadRequests } from "../../crates/sluice-wasm/js/src/requests.js";
import { type Tokens, loadTokens } from "../../crates/sluice-wasm/js/src/tokens.js";

export class Modules {
  readonly #folder: vscode.Uri;
  #core: Promise<Core> | undefined;
  #requests: Promise<Requests> | undefined;
  #tokens: Promise<Tokens> | undefined;
  #demo: Promise<DemoGateway> | undefined;

  constructor(extension: vscode.Uri) {
    this.#folder = vscode.Uri.joinPath(extension, "dist");
  }

  /** Reads answers. */
  core(): Promise<Core> {
    return (this.#core ??= this.#read("sluice_wasm.wasm").then(loadCore));
  }

  /** Builds requests, knows the models. */
  requests(): Promise<Requests> {
    return (this.#requests ??= this.#read("sluice_requests_wasm.wasm").then(loadRequests));
  }

  /** Counts tokens; has the vocabularies and is by far the largest. */
  tokens(): Promise<Tokens> {
    return (this.#tokens ??= this.#read("sluice_tokens_wasm.wasm").then(loadTokens));
  }

  /** Answers in the place of a server while there is no key. */
  demo(): Promise<DemoGateway> {
    return (this.#demo ??= this.#read("sluice_demo_wasm.wasm").then(loadDemo));
  }

  async #read(name: string): Promise<BufferSource> {
    const bytes = await vscode.workspace.fs.readFile(vscode.Uri.joinPath(this.#folder, name));
    return bytes as Uint8Array<ArrayBuffer>;
  }
}
