// The core travels inside the package's JavaScript: no file to find, no bundler to teach, no request to a server. It is
// compiled once, when the first stream needs it.

import { fromBase64 } from "../../loader/src/chunks.js";
import { type Core, loadCore } from "../../loader/src/core.js";

/** The built core: scripts/build.mjs puts it in. */
declare const SLUICE_WASM_BASE64: string;

let core: Promise<Core> | undefined;

export function theCore(): Promise<Core> {
  core ??= loadCore(fromBase64(SLUICE_WASM_BASE64));
  return core;
}
