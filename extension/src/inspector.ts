// The inspector's view in the side bar. It asks, and the core answers.

import * as vscode from "vscode";

import type { RequestRecord } from "../../packages/loader/src/core.js";
import type { Records } from "../../packages/loader/src/tokens.js";
import type { Credit, FromView, Question, Start, Tab, ToView, Usage } from "../view/protocol.js";
import type { Dialogs } from "./dialogs.js";
import type { Log } from "./log.js";
import type { Recorder } from "./recorder.js";
import type { TokenCounts } from "./tokens.js";

export const INSPECTOR = "sluice.inspector";
/** The view is notified of new requests at most once in this time. */
const TELL_AFTER_MS = 300;

export class Inspector implements vscode.WebviewViewProvider {
  #view: vscode.WebviewView | undefined;
  /** The records of all windows, read when the view becomes visible. */
  #records: Promise<Records> | undefined;
  /** The tab that the view shows when it is created. */
  #tab: Tab | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly extension: vscode.Uri,
    private readonly counts: TokenCounts,
    private readonly recorder: Recorder,
    private readonly dialogs: Dialogs,
    /** Asks all servers how much credit is left. */
    private readonly credits: () => Promise<Credit[]>,
    private readonly log: Log,
  ) {}

  resolveWebviewView(view: vscode.WebviewView): void {
    this.#view = view;
    const folder = vscode.Uri.joinPath(this.extension, "dist");
    view.webview.options = { enableScripts: true, localResourceRoots: [folder] };
    view.webview.html = page(view.webview, folder);
    view.webview.onDidReceiveMessage((message: FromView) => {
      this.#handle(view.webview, message).catch((error: unknown) => this.log.failure("error", "The inspector got no answer", error));
    });
    // Other windows may have written files in the meantime.
    view.onDidChangeVisibility(() => {
      this.#records = undefined;
      this.#tell();
    });
    view.onDidDispose(() => {
      this.#view = undefined;
      this.#records = undefined;
    });
  }

  async show(tab: Tab): Promise<void> {
    this.#tab = tab;
    await vscode.commands.executeCommand(`${INSPECTOR}.focus`);
    await this.#view?.webview.postMessage({ show: tab } satisfies ToView);
  }

  /** A request of this window is over. */
  add(record: RequestRecord): void {
    const line = new TextEncoder().encode(JSON.stringify(record));
    this.#records
      ?.then((records) => records.add(line))
      .catch((error: unknown) => this.log.failure("error", "A request is not shown", error));
    this.#tell();
  }

  #tell(): void {
    if (this.#view?.visible === true) {
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        void this.#view?.webview.postMessage({ changed: true } satisfies ToView);
      }, TELL_AFTER_MS);
    }
  }

  async #handle(webview: vscode.Webview, { number, question }: FromView): Promise<void> {
    await webview.postMessage({ number, answer: await this.#answer(question) } satisfies ToView);
  }

  async #answer(question: Question): Promise<unknown> {
    if ("start" in question) {
      return { language: vscode.env.language, texts: vscode.l10n.bundle ?? {}, tab: this.#tab ?? null } satisfies Start;
    }
    if ("isRecorded" in question) {
      return (await this.recorder.work<boolean>({ has: question.isRecorded })) ?? false;
    }
    if ("export" in question) {
      return this.dialogs.run({ exportRecording: question.export });
    }
    if ("usage" in question) {
      return (await this.counts.history(question.usage)) satisfies Usage;
    }
    if ("credits" in question) {
      return (await this.credits()) satisfies Credit[];
    }
    const records = (this.#records ??= this.counts.records());
    records.catch(() => (this.#records = undefined));
    return (await records).ask(question);
  }
}

/** The page loads nothing but its own script and its own style sheet, and may not connect to anything. */
function page(webview: vscode.Webview, folder: vscode.Uri): string {
  const nonce = crypto.randomUUID();
  const address = (name: string): string => webview.asWebviewUri(vscode.Uri.joinPath(folder, name)).toString();
  const policy = `default-src 'none'; style-src ${webview.cspSource}; script-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'`;
  return `<!DOCTYPE html>
<html lang="${vscode.env.language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width">
<title>Sluice</title>
<link rel="stylesheet" href="${address("view.css")}">
</head>
<body><script type="module" nonce="${nonce}" src="${address("view.js")}"></script></body>
</html>`;
}
