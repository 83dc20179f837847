// Converts the core's parts to VS Code's. The core has joined and paced them (crates/sluice-core/src/pace.rs).

import * as vscode from "vscode";

import { fromBase64 } from "../../packages/loader/src/base64.js";
import type { Part, VsCodeUsage } from "../../packages/loader/src/core.js";
import { REPLAY } from "./to-core.js";

/** VS Code's extension host holds parts back for 30 ms. */
const FORWARDED_MS = 80;

export interface ReporterOptions {
  /** What to do if VS Code can't show thinking separately. */
  readonly thinkingFallback: "hide" | "text";
  /** VS Code's chat drops image parts, so a generated image is saved and linked there. */
  readonly saveImage?: (mimeType: string, bytes: Uint8Array) => Promise<vscode.Uri>;
  /** Called if a part couldn't be shown properly. The answer continues. */
  readonly onProblem: (what: string, error: unknown) => void;
}

/** Reports the parts of one answer. Call `end` exactly once, or `abandon` after a cancellation. */
export class Reporter {
  #lastReport = Number.NEGATIVE_INFINITY;
  #saving: Promise<void>[] = [];
  #saidNotSaved = false;
  #isAbandoned = false;

  constructor(
    private readonly progress: vscode.Progress<vscode.LanguageModelResponsePart>,
    private readonly options: ReporterOptions,
  ) {}

  report(part: Part): void {
    switch (part.type) {
      case "text":
        this.#report(new vscode.LanguageModelTextPart(part.value));
        break;
      case "thinking":
        if (part.replay === undefined) {
          this.#think(part.value, part.id);
        } else {
          // VS Code keeps one block of thinking per answer and the metadata of its last part; the agent host keeps only
          // this string.
          this.#think(part.value, part.id, { [REPLAY]: part.replay, encrypted_content: JSON.stringify(part.replay) });
        }
        break;
      case "toolCall":
        this.#report(new vscode.LanguageModelToolCallPart(part.callId, part.name, JSON.parse(part.inputJson) as object));
        break;
      case "citations":
        this.#report(new vscode.LanguageModelTextPart(part.markdown));
        break;
      case "data":
        this.#image(part.mimeType, part.base64);
        break;
    }
  }

  /** Adds text by Sluice below the answer. */
  note(markdown: string): void {
    this.#report(new vscode.LanguageModelTextPart(markdown));
  }

  /** Reports everything that is left, the counts and the marker. */
  async end(usage: VsCodeUsage | null, marker: string | null): Promise<void> {
    await Promise.all(this.#saving);
    const data = (text: string, mimeType: string): void =>
      this.#report(new vscode.LanguageModelDataPart(new TextEncoder().encode(text), mimeType));
    if (usage !== null) {
      data(JSON.stringify(usage), "usage");
    }
    if (marker !== null) {
      data(marker, "stateful_marker");
    }
  }

  /** Resolves when the last part has left VS Code's extension host. */
  async settled(): Promise<void> {
    const wait = this.#lastReport + FORWARDED_MS - Date.now();
    if (wait > 0) {
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }

  /** Nothing may be reported after this. */
  abandon(): void {
    this.#isAbandoned = true;
  }

  #think(value: string, id: string, metadata?: { readonly [key: string]: unknown }): void {
    if (vscode.LanguageModelThinkingPart !== undefined) {
      const part = new vscode.LanguageModelThinkingPart(value, id, metadata);
      this.#report(part as unknown as vscode.LanguageModelResponsePart);
    } else if (this.options.thinkingFallback === "text" && value !== "") {
      this.#report(new vscode.LanguageModelTextPart(value));
    }
  }

  #image(mimeType: string, base64: string): void {
    let bytes: Uint8Array;
    try {
      bytes = fromBase64(base64);
    } catch (error) {
      this.options.onProblem("An image in the answer is damaged and was left out", error);
      return;
    }
    this.#report(new vscode.LanguageModelDataPart(bytes, mimeType));
    if (this.options.saveImage !== undefined) {
      const linked = this.options.saveImage(mimeType, bytes).then(
        (file) => this.#report(new vscode.LanguageModelTextPart(`\n\n[${vscode.l10n.t("Generated image")}](${file.toString()})\n\n`)),
        (error: unknown) => this.#notSaved(error),
      );
      this.#saving.push(linked);
    }
  }

  /** Reports that an image could not be saved, once for each answer. The rest of the answer is still shown. */
  #notSaved(error: unknown): void {
    if (!this.#saidNotSaved) {
      this.#saidNotSaved = true;
      this.options.onProblem("A generated image could not be saved", error);
      const sentence = vscode.l10n.t("A generated image could not be saved. Is the disk full?");
      this.#report(new vscode.LanguageModelTextPart(`\n\n*${sentence}*\n\n`));
    }
  }

  #report(part: vscode.LanguageModelResponsePart): void {
    if (!this.#isAbandoned) {
      this.#lastReport = Date.now();
      this.progress.report(part);
    }
  }
}
