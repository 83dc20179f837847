// WebAssembly modules that scripts/build.mjs inserts into the package's JavaScript: compressed, because base64 hides
// repetitions from whatever compresses the JavaScript later.

import { fromBase64 } from "../../loader/src/base64.js";
import { unpack } from "./lzma.js";

/** Whether the modules of this entry point are packed as small as possible, and not with gzip. */
declare const SLUICE_IS_SMALL: boolean;

/** Returns the bytes of a module. */
export async function embedded(packed: string): Promise<ArrayBuffer> {
  const bytes = fromBase64(packed);
  if (SLUICE_IS_SMALL) {
    return unpack(bytes).buffer;
  }
  const compressed = new Response(bytes).body!;
  return new Response(compressed.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}
