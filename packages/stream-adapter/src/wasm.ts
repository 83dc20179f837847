// The core is embedded in the package's JavaScript: there is no file to locate, no bundler to configure and no server
// to ask. There is a module for each dialect. It is compiled once, when the first stream needs it. The entry point `slim`
// has no modules in it.

import { type Core, loadCore } from "../../loader/src/core.js";
import { embedded } from "./embedded.js";

/** The modules, compressed and as base64, inserted by scripts/build.mjs; empty in the entry point `slim`. */
declare const SLUICE_WASM: string;
declare const SLUICE_AI_SDK_WASM: string;

const cores: { openResponses?: Promise<Core>; aiSdk?: Promise<Core> } = {};

/**
 * Sets the core for one of the adapters, which is the package's file `core.wasm` or `ai-sdk.wasm`. Only the entry point `slim`
 * needs this.
 */
export async function useCore(wasm: BufferSource | WebAssembly.Module): Promise<void> {
  const module = wasm instanceof WebAssembly.Module ? wasm : new WebAssembly.Module(wasm);
  const isAiSdk = WebAssembly.Module.exports(module).some(({ name }) => name === "exchange_chunk");
  await (cores[isAiSdk ? "aiSdk" : "openResponses"] = loadCore(module));
}

/** Returns the core that reads Open Responses. */
export function openResponsesCore(): Promise<Core> {
  return (cores.openResponses ??= load(SLUICE_WASM, "core.wasm"));
}

/** Returns the core that reads chunks of the AI SDK. */
export function aiSdkCore(): Promise<Core> {
  return (cores.aiSdk ??= load(SLUICE_AI_SDK_WASM, "ai-sdk.wasm"));
}

async function load(packed: string, file: string): Promise<Core> {
  if (packed === "") {
    throw new Error(`There is no core yet. Call useCore with the bytes of @sluice/stream-adapter/${file} first.`);
  }
  return loadCore(await embedded(packed));
}
