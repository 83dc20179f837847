// Everything that the extension shows outside of the chat goes through here, and so do the provider's errors, which the
// chat shows. Links in it are disabled, because a server may have written some of it. A test ensures that no other file
// calls these functions of VS Code. Our own links are buttons.

import * as vscode from "vscode";

import type { DialogInput, DialogLevel, DialogRow, InputAnswer, Message, StatusLine } from "../../packages/loader/src/core.js";
import { core, linkFree } from "./link-free.js";
import { localized } from "./messages.js";

type Show = (message: string, ...buttons: string[]) => Thenable<string | undefined>;

/** Returns a function that shows a message and returns the button that was pressed, if any. */
function linkFreeMessage(show: Show): (message: string, ...buttons: string[]) => Promise<string | undefined> {
  return async (message, ...buttons) => {
    const labels = buttons.map((button) => linkFree(button));
    const label = await show(linkFree(message), ...labels);
    return label === undefined ? undefined : buttons[labels.indexOf(label)];
  };
}

export const showInformation = linkFreeMessage((...message) => vscode.window.showInformationMessage(...message));
export const showWarning = linkFreeMessage((...message) => vscode.window.showWarningMessage(...message));
export const showError = linkFreeMessage((...message) => vscode.window.showErrorMessage(...message));
/** Asks a question that has to be answered before anything else happens. */
export const ask = linkFreeMessage((message, ...buttons) => vscode.window.showWarningMessage(message, { modal: true }, ...buttons));

const SHOW: { readonly [level in DialogLevel]: typeof showInformation } = {
  information: showInformation,
  warning: showWarning,
  error: showError,
  question: ask,
};

/** Shows a message of the core. Returns the index of the button that was pressed, if any. */
export async function showMessage(message: { level: DialogLevel; text: Message[]; buttons: Message[] }): Promise<number | undefined> {
  const buttons = message.buttons.map((button) => localized([button]));
  const pressed = SHOW[message.level](localized(message.text), ...buttons);
  // The caller does not wait for the notification to be closed.
  return buttons.length === 0 ? undefined : pressed.then((button) => (button === undefined ? undefined : buttons.indexOf(button)));
}

/** Lets the user choose a row. Returns its index, or undefined if they choose none. */
export async function pick(list: { rows: DialogRow[]; title: Message[]; placeholder: Message[] }): Promise<number | undefined> {
  const text = (messages: readonly Message[]): string => linkFree(localized(messages));
  const options = { title: text(list.title), placeHolder: text(list.placeholder), matchOnDescription: true, matchOnDetail: true };
  const items = list.rows.map(({ icon, label, description, detail }, index) => ({
    label: icon === null ? text(label) : `$(${icon}) ${text(label)}`,
    description: text(description),
    detail: text(detail),
    index,
  }));
  return (await vscode.window.showQuickPick(items, options))?.index;
}

/** An input box that stays open while an input is checked. */
export class InputBox {
  #box: vscode.InputBox | undefined;
  #answer: (answer: InputAnswer | undefined) => void = () => undefined;

  /** Asks for a text, or for another one if there was a problem. Returns undefined if the user closes the box. */
  ask(input: DialogInput, problem: readonly Message[] | null): Promise<InputAnswer | undefined> {
    return new Promise((resolve) => {
      this.#answer = resolve;
      if (problem === null) {
        this.#open(input);
      } else if (this.#box === undefined) {
        resolve(undefined);
      } else {
        this.#box.validationMessage = linkFree(localized(problem));
        [this.#box.busy, this.#box.enabled] = [false, true];
      }
    });
  }

  /** Returns whether the box was still open. */
  close(): boolean {
    const box = this.#box;
    this.#box = undefined;
    box?.dispose();
    return box !== undefined;
  }

  #open({ title, prompt, value, isSecret, buttons }: DialogInput): void {
    this.close();
    const box = (this.#box = vscode.window.createInputBox());
    box.title = linkFree(localized(title));
    box.prompt = linkFree(localized(prompt));
    box.value = value;
    box.password = isSecret;
    box.ignoreFocusOut = true;
    box.buttons = buttons.map(([icon, tooltip]) => ({ iconPath: new vscode.ThemeIcon(icon), tooltip: linkFree(localized([tooltip])) }));
    box.onDidChangeValue(() => (box.validationMessage = undefined));
    box.onDidAccept(() => {
      [box.busy, box.enabled] = [true, false];
      this.#answer({ entered: box.value.trim() });
    });
    box.onDidTriggerButton((button) => {
      this.#answer({ button: box.buttons.indexOf(button) });
      this.close();
    });
    box.onDidHide(() => {
      // VS Code also says this about a box that was closed here.
      if (this.#box === box) {
        this.#answer(undefined);
        this.close();
      }
    });
    box.show();
  }
}

let panel: vscode.WebviewPanel | undefined;

/** Shows a page without scripts, in which server text is escaped. There is one such page at a time. */
export function showPage(title: string, html: string): void {
  if (panel === undefined) {
    panel = vscode.window.createWebviewPanel("sluice.card", "Sluice", vscode.ViewColumn.Active, { localResourceRoots: [] });
    panel.onDidDispose(() => (panel = undefined));
  }
  panel.title = linkFree(title);
  panel.webview.html = html;
  panel.reveal();
}

/** Shows a notification while the work is in progress. It has a button that cancels if the work asks for a signal. */
export function withProgress<T>(
  title: string,
  work: (report: (message: string) => void, cancellation: AbortSignal) => Promise<T>,
): Promise<T> {
  const options = { location: vscode.ProgressLocation.Notification, title: linkFree(title), cancellable: work.length > 1 };
  const run = vscode.window.withProgress(options, (progress, token) => {
    const cancellation = new AbortController();
    token.onCancellationRequested(() => cancellation.abort());
    return work((message) => progress.report({ message: linkFree(message) }), cancellation.signal);
  });
  return Promise.resolve(run);
}

const BACKGROUNDS = {
  normal: undefined,
  warning: new vscode.ThemeColor("statusBarItem.warningBackground"),
  error: new vscode.ThemeColor("statusBarItem.errorBackground"),
};

/** Shows in the status bar how full the conversation is. Text, colour and tooltip come from the core. */
export class StatusBar {
  readonly #item = vscode.window.createStatusBarItem("sluice.status", vscode.StatusBarAlignment.Right, 100);
  #line: StatusLine | undefined;
  /** Why a request is waiting, and until when. */
  #retrying: { readonly message: string; readonly until: number } | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** The tooltip mentions a command that makes VS Code show text sooner, as long as `offersSmoothStreaming` says so. */
  constructor(private readonly offersSmoothStreaming: () => boolean = () => false) {
    this.#item.name = "Sluice";
    this.#item.command = "sluice.inspector.focus";
  }

  /** Shows the conversation of the newest request. Without a line, nothing changes. */
  show(line: StatusLine | null): void {
    if (line !== null) {
      this.#line = line;
      this.#retrying = undefined;
      this.#render();
    }
  }

  /** Counts the seconds until a request is sent again. */
  retrying(message: string, delayMs: number): void {
    this.#retrying = { message, until: Date.now() + delayMs };
    this.#render();
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#item.dispose();
  }

  #render(): void {
    const view = core?.showStatus({
      line: this.#line ?? null,
      retrying: this.#retrying === undefined ? null : [this.#retrying.message, this.#retrying.until - Date.now()],
      offersSmoothStreaming: this.offersSmoothStreaming(),
    });
    if (view === undefined) {
      return;
    }
    clearTimeout(this.#timer);
    this.#timer = view.isCounting ? setTimeout(() => this.#render(), 1_000) : undefined;
    this.#item.text = view.text;
    this.#item.backgroundColor = BACKGROUNDS[view.level];
    const tooltip = new vscode.MarkdownString(view.tooltip);
    tooltip.isTrusted = { enabledCommands: view.commands };
    this.#item.tooltip = tooltip;
    this.#item.accessibilityInformation = { label: view.spoken };
    this.#item.show();
  }
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

/** An error of an answer, with a link of ours after its message. */
class AnswerError extends Error {
  link = "";
}

/** Returns the error that ends an answer. Extensions get one whose code they can check. */
export function answerError({ text, link, code }: { text: string; link: string; code: string | null }): Error {
  return code === null ? Object.assign(new AnswerError(text), { link }) : vscode.LanguageModelError[code as "Blocked"](text);
}

/** Returns an error for the chat, which shows the message and then the stack, unless there is none. */
export function plainError(message: string): Error {
  const error = new Error(message);
  error.stack = "";
  return error;
}

/** An error for the chat about which there already was a notification. */
export class KnownError extends Error {
  override readonly stack = "";
}

async function linkFreeErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof vscode.CancellationError) {
      throw error;
    }
    const shown = error instanceof vscode.LanguageModelError ? error : new Error(error instanceof Error ? error.message : String(error));
    shown.message = linkFree(shown.message) + (error instanceof AnswerError ? error.link : "");
    // The chat shows the stack after the message, and a stack starts with the original message.
    shown.stack = "";
    throw shown;
  }
}
