// Building a vocabulary takes longer than an extension host may stand still, so another thread does it where there are any.

import * as vscode from "vscode";

import type { ThreadData } from "./vocabulary-thread.js";

/** As much of Node's threads as this needs. */
interface Thread {
  once(event: "message", listener: (memory: Uint8Array) => void): void;
  once(event: "error", listener: (error: Error) => void): void;
  once(event: "exit", listener: (code: number) => void): void;
}

declare function require(name: "node:worker_threads"): {
  Worker: new (file: string, options: { workerData: ThreadData; execArgv: string[] }) => Thread;
};

/** The memory of the token counter with its vocabulary in it; nothing in hosts that have no threads for us, as browsers. */
export async function buildOnThread(extension: vscode.Uri, data: ThreadData): Promise<Uint8Array | undefined> {
  try {
    const { Worker } = require("node:worker_threads");
    const script = vscode.Uri.joinPath(extension, "dist", "vocabulary-thread.js");
    return await new Promise((resolve, reject) => {
      // What the host was started with, a debugger's port for one, is not meant for us.
      const thread = new Worker(script.fsPath, { workerData: data, execArgv: [] });
      thread.once("message", resolve);
      thread.once("error", reject);
      thread.once("exit", () => reject(new Error("the thread ended")));
    });
  } catch {
    return undefined;
  }
}
