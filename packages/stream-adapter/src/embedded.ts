// WebAssembly modules that scripts/build.mjs inserts into the package's JavaScript: compressed, because base64 hides
// repetitions from whatever compresses the JavaScript later.

import { fromBase64 } from "../../loader/src/base64.js";

/** Returns the bytes of a module. */
export function embedded(gzip: string): Promise<ArrayBuffer> {
  const compressed = new Response(fromBase64(gzip)).body!;
  return new Response(compressed.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}
