// What VS Code has at run time and not (yet) in its types. All of it is optional: look before using it.

import "vscode";

declare module "vscode" {
  /** There since 1.104, still a proposal. */
  class LanguageModelThinkingPart {
    readonly value: string | string[];
    readonly id?: string;
    readonly metadata?: { readonly [key: string]: unknown };
    constructor(value: string | string[], id?: string, metadata?: { readonly [key: string]: unknown });
  }

  interface PrepareLanguageModelChatModelOptions {
    /** What the user entered for this group of models; absent when VS Code asks for models that need none. */
    readonly configuration?: { readonly [name: string]: unknown };
  }

  interface ProvideLanguageModelChatResponseOptions {
    /** The calling extension, or `core`. */
    readonly requestInitiator?: string;
    /** What the user chose in the model picker. */
    readonly modelConfiguration?: { readonly [name: string]: unknown };
  }

  interface LanguageModelChatInformation {
    readonly isUserSelectable?: boolean;
    readonly pricing?: string;
    readonly maxContextWindowTokens?: number;
    readonly configurationSchema?: { readonly properties: { readonly [name: string]: unknown } };
  }

  interface LanguageModelToolResultPart {
    readonly isError?: boolean;
  }
}
