// Everything that the extension shows outside of the chat goes through here, and so do the provider's errors, which the
// chat shows. Links in it are disabled, because a server may have written some of it. A test ensures that no other file
// calls these functions of VS Code. Our own links are buttons.

import * as vscode from "vscode";

import { linkFree } from "./link-free.js";

/** Returns the button that was pressed, if any. */
export function showInformation(message: string, ...buttons: string[]): Promise<string | undefined> {
  return chosen(buttons, (labels) => vscode.window.showInformationMessage(linkFree(message), ...labels));
}

export function showWarning(message: string, ...buttons: string[]): Promise<string | undefined> {
  return chosen(buttons, (labels) => vscode.window.showWarningMessage(linkFree(message), ...labels));
}

export function showError(message: string, ...buttons: string[]): Promise<string | undefined> {
  return chosen(buttons, (labels) => vscode.window.showErrorMessage(linkFree(message), ...labels));
}

/** Asks a question that has to be answered before anything else happens. */
export async function confirm(message: string, yes: string): Promise<boolean> {
  const answer = await chosen([yes], (labels) => vscode.window.showWarningMessage(linkFree(message), { modal: true }, ...labels));
  return answer === yes;
}

async function chosen(buttons: readonly string[], show: (labels: string[]) => Thenable<string | undefined>): Promise<string | undefined> {
  const labels = buttons.map((button) => linkFree(button));
  const label = await show(labels);
  return label === undefined ? undefined : buttons[labels.indexOf(label)];
}

export interface Row {
  readonly label: string;
  /** The name of a theme icon to show before the label. */
  readonly icon?: string;
  readonly description?: string;
  readonly detail?: string;
  readonly isSeparator?: boolean;
}

function quickPickItem<T extends Row>(row: T): vscode.QuickPickItem & { readonly row: T } {
  const { label, icon, description, detail, isSeparator = false } = row;
  return {
    label: icon === undefined ? linkFree(label) : `$(${icon}) ${linkFree(label)}`,
    ...(description === undefined ? {} : { description: linkFree(description) }),
    ...(detail === undefined ? {} : { detail: linkFree(detail) }),
    kind: isSeparator ? vscode.QuickPickItemKind.Separator : vscode.QuickPickItemKind.Default,
    row,
  };
}

/** Lets the user choose a row. Returns undefined if they choose none. */
export async function pick<T extends Row>(
  rows: readonly T[],
  { title, placeholder }: { title: string; placeholder?: string },
): Promise<T | undefined> {
  const item = await vscode.window.showQuickPick(rows.map(quickPickItem), {
    title: linkFree(title),
    ...(placeholder === undefined ? {} : { placeHolder: linkFree(placeholder) }),
    matchOnDescription: true,
    matchOnDetail: true,
  });
  return item?.row;
}

/** Shows a list without a choice, with buttons above it. */
export class ListView {
  readonly #pick = vscode.window.createQuickPick();

  constructor({
    title,
    placeholder,
    onButton,
  }: { title: string; placeholder: string; onButton: (button: vscode.QuickInputButton) => void }) {
    this.#pick.title = linkFree(title);
    this.#pick.placeholder = linkFree(placeholder);
    this.#pick.matchOnDescription = true;
    this.#pick.onDidTriggerButton(onButton);
    this.#pick.onDidAccept(() => this.#pick.hide());
    this.#pick.onDidHide(() => this.#pick.dispose());
    this.#pick.show();
  }

  /** Shows a progress bar until the rows are available. */
  async fill(rows: Promise<readonly Row[]>, buttons: readonly vscode.QuickInputButton[]): Promise<void> {
    this.#pick.busy = true;
    this.#pick.items = (await rows).map(quickPickItem);
    this.#pick.buttons = buttons;
    this.#pick.busy = false;
  }
}

/** Shows a notification while the work is in progress. */
export function withProgress<T>(title: string, work: (report: (message: string) => void) => Promise<T>): Promise<T> {
  const options = { location: vscode.ProgressLocation.Notification, title: linkFree(title) };
  return Promise.resolve(
    vscode.window.withProgress(options, (progress) => work((message) => progress.report({ message: linkFree(message) }))),
  );
}

/** The same with a button that cancels. */
export function withCancellableProgress<T>(
  title: string,
  work: (report: (message: string) => void, cancellation: AbortSignal) => Promise<T>,
): Promise<T> {
  const options = { location: vscode.ProgressLocation.Notification, title: linkFree(title), cancellable: true };
  return Promise.resolve(
    vscode.window.withProgress(options, (progress, token) => {
      const cancellation = new AbortController();
      token.onCancellationRequested(() => cancellation.abort());
      return work((message) => progress.report({ message: linkFree(message) }), cancellation.signal);
    }),
  );
}

export interface StatusText {
  /** The name of a theme icon. */
  readonly icon: string;
  readonly text: string;
  readonly background: vscode.ThemeColor | undefined;
  /** The tooltip: a paragraph if there is one, and a table below it. */
  readonly note: string | undefined;
  readonly table: readonly { readonly label: string; readonly value: string }[];
}

/** An item on the right of the status bar. */
export class StatusItem {
  readonly #item: vscode.StatusBarItem;

  constructor(id: string, name: string, command: string) {
    this.#item = vscode.window.createStatusBarItem(id, vscode.StatusBarAlignment.Right, 100);
    this.#item.name = name;
    this.#item.command = command;
  }

  show({ icon, text, background, note, table }: StatusText): void {
    const shown = linkFree(text);
    this.#item.text = `$(${icon}) ${shown}`;
    this.#item.backgroundColor = background;
    const tooltip = new vscode.MarkdownString();
    if (note !== undefined) {
      tooltip.appendMarkdown(`${markdown(note)}\n\n`);
    }
    tooltip.appendMarkdown("| | |\n|:--|--:|\n");
    for (const { label, value } of table) {
      tooltip.appendMarkdown(`| ${markdown(label)} | ${markdown(value)} |\n`);
    }
    this.#item.tooltip = tooltip;
    this.#item.accessibilityInformation = { label: `${this.#item.name}: ${shown}` };
    this.#item.show();
  }

  dispose(): void {
    this.#item.dispose();
  }
}

/** Returns Markdown that shows the text unchanged. */
function markdown(text: string): string {
  return linkFree(text).replace(/[!-/:-@[-`{-~]/g, "\\$&");
}

/**
 * Registers a provider and removes links from its errors: the chat shows them as Markdown, other extensions in
 * notifications.
 */
export function registerProvider<T extends vscode.LanguageModelChatInformation>(
  vendor: string,
  provider: vscode.LanguageModelChatProvider<T>,
): vscode.Disposable {
  return vscode.lm.registerLanguageModelChatProvider(vendor, {
    ...(provider.onDidChangeLanguageModelChatInformation && {
      onDidChangeLanguageModelChatInformation: provider.onDidChangeLanguageModelChatInformation,
    }),
    provideLanguageModelChatInformation: (...request) =>
      linkFreeErrors(async () => provider.provideLanguageModelChatInformation(...request)),
    provideLanguageModelChatResponse: (...request) => linkFreeErrors(async () => provider.provideLanguageModelChatResponse(...request)),
    provideTokenCount: (...request) => linkFreeErrors(async () => provider.provideTokenCount(...request)),
  } satisfies vscode.LanguageModelChatProvider<T>);
}

/** Returns an error for the chat, which shows the message and then the stack, unless there is none. */
export function plainError(message: string): Error {
  const error = new Error(message);
  error.stack = "";
  return error;
}

async function linkFreeErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof vscode.CancellationError) {
      throw error;
    }
    const shown = error instanceof vscode.LanguageModelError ? error : new Error(error instanceof Error ? error.message : String(error));
    shown.message = linkFree(shown.message);
    // The chat shows the stack after the message, and a stack starts with the original message.
    shown.stack = "";
    throw shown;
  }
}
