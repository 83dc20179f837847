// The WebAssembly modules of this extension, each loaded when it is first needed and not before.

import * as vscode from "vscode";

import { type Core, loadCore } from "../../crates/sluice-wasm/js/src/core.js";

export class Modules {
  readonly #folder: vscode.Uri;
  #core: Promise<Core> | undefined;

  constructor(extension: vscode.Uri) {
    this.#folder = vscode.Uri.joinPath(extension, "dist");
  }

  core(): Promise<Core> {
    return (this.#core ??= this.#read("sluice_wasm.wasm").then(loadCore));
  }

  async #read(name: string): Promise<BufferSource> {
    const bytes = await vscode.workspace.fs.readFile(vscode.Uri.joinPath(this.#folder, name));
    return bytes as Uint8Array<ArrayBuffer>;
  }
}
