// Counts tokens, for `provideTokenCount`. The vocabularies are megabytes, so this entry point is optional and has a file of its
// own for them.

import { loadTokens, type Tokens } from "../../loader/src/tokens.js";
import { type RequestMessage, toMessage } from "./chat.js";
import { embedded } from "./embedded.js";
// scripts/build.mjs writes it: the tokens module, compressed and as base64. The ES module and CommonJS share it.
import packed from "./vocabularies.cjs";

export type { RequestMessage } from "./chat.js";

let tokens: Promise<Tokens> | undefined;

/**
 * Counts the tokens of a text or of a message: `provideTokenCount: ({ id }, text) => countTokens(id, text)`. OpenAI's models are
 * counted with their own vocabularies. Those of other families are estimated with the nearest vocabulary and a factor for the family.
 */
export async function countTokens(model: string, text: string | RequestMessage): Promise<number> {
  tokens ??= embedded(packed).then(loadTokens);
  const counter = await tokens;
  return typeof text === "string" ? counter.countText(model, "", text) : counter.countMessage(model, "", toMessage(text));
}
