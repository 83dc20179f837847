// The core is embedded in the package's JavaScript: there is no file to locate, no bundler to configure and no server
// to ask. It is compiled once, when the first stream needs it.

import { fromBase64 } from "../../loader/src/base64.js";
import { type Core, loadCore } from "../../loader/src/core.js";

/** The compiled core, inserted by scripts/build.mjs. */
declare const SLUICE_WASM_BASE64: string;

let core: Promise<Core> | undefined;

export function theCore(): Promise<Core> {
  core ??= loadCore(fromBase64(SLUICE_WASM_BASE64));
  return core;
}
