// Converts the core's parts to VS Code's. The classes are passed in, or looked up inside VS Code. This package never
// imports them, so it works, and can be tested, without VS Code.

import { fromBase64 } from "../../loader/src/base64.js";
import type { Part, VsCodeUsage } from "../../loader/src/core.js";

/** The shapes of VS Code's parts, for callers without its types. */
export type ResponsePart = { value: string } | { callId: string; name: string; input: object } | { data: Uint8Array; mimeType: string };

/**
 * The parts of the `vscode` module that are used; pass the whole module. Without `LanguageModelThinkingPart` (stable VS
 * Code has it at run time, but not in its types), thinking is left out. Without `LanguageModelDataPart` (before 1.104),
 * files and sources are left out.
 */
export interface VSCodeClasses {
  LanguageModelTextPart: new (value: string) => { value: string };
  LanguageModelToolCallPart: new (callId: string, name: string, input: object) => object;
  LanguageModelDataPart?: DataPartClass;
}

interface DataPartClass {
  new (data: Uint8Array, mimeType: string): object;
  image?(data: Uint8Array, mimeType: string): object;
  json?(value: unknown, mimeType?: string): object;
  text?(value: string, mimeType?: string): object;
}

type ThinkingPartClass = new (value: string, id?: string, metadata?: { [key: string]: unknown }) => object;

/** Matches `type/subtype`, followed by any parameters. */
const MEDIA_TYPE = /^[a-z0-9][\w!#$&^.+-]*\/[a-z0-9][\w!#$&^.+-]*\s*(;|$)/i;
const CITATION = "application/vnd.vscode.citation+json";

declare const require: ((module: string) => unknown) | undefined;

/** Returns VS Code's own module, if this code runs in VS Code. */
export async function lookUpVSCode(): Promise<VSCodeClasses> {
  try {
    return require!("vscode") as VSCodeClasses;
  } catch {
    // There is no `require`, or it doesn't know VS Code.
  }
  try {
    // This is an ES module in the extension host. Bundlers must not try to resolve it.
    const name = "vscode";
    return (await import(/* webpackIgnore: true */ /* @vite-ignore */ name)) as VSCodeClasses;
  } catch {
    throw new Error("VS Code's classes were not found. Pass the module as an option: { vscode }.");
  }
}

/** Makes VS Code's parts from the core's. */
export class PartMaker {
  readonly #classes: VSCodeClasses;
  readonly #thinking: ThinkingPartClass | undefined;
  readonly #hasNoThinking: boolean;
  readonly #warn: (message: string) => void;
  /** What couldn't be reported because this VS Code has no class for it. */
  readonly missing = new Set<string>();

  constructor(classes: VSCodeClasses, enableReasoning: boolean, warn: (message: string) => void) {
    this.#classes = classes;
    this.#warn = warn;
    const thinking = (classes as { LanguageModelThinkingPart?: ThinkingPartClass }).LanguageModelThinkingPart;
    this.#thinking = enableReasoning ? thinking : undefined;
    this.#hasNoThinking = enableReasoning && thinking === undefined;
  }

  make(part: Part, report: (part: object) => void): void {
    switch (part.type) {
      case "text":
        report(new this.#classes.LanguageModelTextPart(part.value));
        break;
      case "thinking":
        if (this.#thinking !== undefined) {
          const { value, id, replay } = part;
          report(replay === undefined ? new this.#thinking(value, id) : new this.#thinking(value, id, { replay }));
        } else if (this.#hasNoThinking) {
          this.missing.add("LanguageModelThinkingPart");
        }
        break;
      case "toolCall":
        report(new this.#classes.LanguageModelToolCallPart(part.callId, part.name, JSON.parse(part.inputJson) as object));
        break;
      case "data":
        this.#file(part.base64, part.mimeType, report);
        break;
      case "citations":
        for (const citation of part.citations) {
          const sourceType = citation.url === undefined ? "document" : "url";
          this.#json({ type: "citation", sourceType, ...citation }, CITATION, report);
        }
        break;
    }
  }

  makeUsage(usage: VsCodeUsage, report: (part: object) => void): void {
    const Data = this.#dataClass();
    if (Data !== undefined) {
      report(new Data(new TextEncoder().encode(JSON.stringify(usage)), "usage"));
    }
  }

  #file(base64: string, mimeType: string, report: (part: object) => void): void {
    const Data = this.#dataClass();
    if (Data === undefined) {
      return;
    }
    // VS Code controls itself with data parts whose types are single words (`usage`, `stateful_marker`). A model must
    // not be able to.
    if (!MEDIA_TYPE.test(mimeType)) {
      this.#warn("a file was left out, because its type is not a media type");
      return;
    }
    let bytes: Uint8Array;
    try {
      bytes = fromBase64(base64);
    } catch {
      this.#warn("a file was left out, because its content is not valid base64");
      return;
    }
    const kind = mimeType.toLowerCase();
    if (kind.startsWith("image/") && Data.image) {
      report(Data.image(bytes, mimeType));
    } else if (kind.startsWith("text/") && Data.text) {
      report(Data.text(new TextDecoder().decode(bytes), mimeType));
    } else {
      report(new Data(bytes, mimeType));
    }
  }

  #json(value: unknown, mimeType: string, report: (part: object) => void): void {
    const Data = this.#dataClass();
    if (Data?.json) {
      report(Data.json(value, mimeType));
    } else if (Data) {
      report(new Data(new TextEncoder().encode(JSON.stringify(value)), mimeType));
    }
  }

  #dataClass(): DataPartClass | undefined {
    const Data = this.#classes.LanguageModelDataPart;
    if (Data === undefined) {
      this.missing.add("LanguageModelDataPart");
    }
    return Data;
  }
}
