// What VS Code has at run time but not (yet) in its types. Everything is optional, so check before using it.

import "vscode";

declare module "vscode" {
  /** Available since 1.104, but still a proposal. */
  class LanguageModelThinkingPart {
    readonly value: string | string[];
    readonly id?: string;
    readonly metadata?: { readonly [key: string]: unknown };
    constructor(value: string | string[], id?: string, metadata?: { readonly [key: string]: unknown });
  }

  interface PrepareLanguageModelChatModelOptions {
    /** What the user entered for this group of models. Absent if VS Code asks for models that need no input. */
    readonly configuration?: { readonly [name: string]: unknown };
  }

  interface ProvideLanguageModelChatResponseOptions {
    /** The calling extension, or `core`. */
    readonly requestInitiator?: string;
    /** What the user chose in the model picker. */
    readonly modelConfiguration?: { readonly [name: string]: unknown };
  }

  interface LanguageModelToolResultPart {
    readonly isError?: boolean;
  }
}
