// The extension behind the view: questions and their answers.

import type { FromView, Question, Tab, ToView } from "./protocol.js";

declare function acquireVsCodeApi(): {
  postMessage(message: FromView): void;
  getState(): ViewState | undefined;
  setState(state: ViewState): void;
};

/** What the view remembers while it is hidden. */
export interface ViewState {
  readonly tab: Tab;
  readonly selected: string | null;
}

const vscode = acquireVsCodeApi();
const waiting = new Map<number, (answer: unknown) => void>();
let asked = 0;
let listener: { onChange(): void; onShow(tab: Tab): void } | undefined;

window.addEventListener("message", ({ data }: MessageEvent<ToView>) => {
  if ("changed" in data) {
    listener?.onChange();
    return;
  }
  if ("show" in data) {
    listener?.onShow(data.show);
    return;
  }
  waiting.get(data.number)?.(data.answer);
  waiting.delete(data.number);
});

export function ask<T>(question: Question): Promise<T> {
  const number = asked++;
  vscode.postMessage({ number, question });
  return new Promise((resolve) => waiting.set(number, (answer) => resolve(answer as T)));
}

/** Calls these functions whenever there are other requests, or a tab is to be shown. */
export function listen(to: { onChange(): void; onShow(tab: Tab): void }): void {
  listener = to;
}

export const savedState = (): ViewState => vscode.getState() ?? { tab: "requests", selected: null };
export const saveState = (state: ViewState): void => vscode.setState(state);
