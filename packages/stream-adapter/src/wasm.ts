// The core is embedded in the package's JavaScript: there is no file to locate, no bundler to configure and no server
// to ask. It is compiled once, when the first stream needs it. The entry point `slim` has no core in it.

import { fromBase64 } from "../../loader/src/base64.js";
import { type Core, loadCore } from "../../loader/src/core.js";

/** The compiled core, inserted by scripts/build.mjs; empty in the entry point `slim`. */
declare const SLUICE_WASM_BASE64: string;

let core: Promise<Core> | undefined;

/** Sets the core, which is the package's file `core.wasm`. Only the entry point `slim` needs this. */
export function useCore(wasm: BufferSource | WebAssembly.Module): Promise<void> {
  core = loadCore(wasm);
  return core.then(() => {});
}

export function theCore(): Promise<Core> {
  if (core === undefined && SLUICE_WASM_BASE64 === "") {
    return Promise.reject(new Error("There is no core yet. Call useCore with the bytes of @sluice/stream-adapter/core.wasm first."));
  }
  core ??= loadCore(fromBase64(SLUICE_WASM_BASE64));
  return core;
}
