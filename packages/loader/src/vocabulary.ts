// Building a vocabulary would block an extension host for too long, so a thread does it where threads are available.

import type { ThreadData } from "./vocabulary-thread.js";

/** The parts of Node's threads that are used here. */
interface Thread {
  once(event: "message", listener: (memory: Uint8Array) => void): void;
  once(event: "error", listener: (error: Error) => void): void;
  once(event: "exit", listener: (code: number) => void): void;
}

declare function require(name: "node:worker_threads"): {
  Worker: new (file: string, options: { workerData: ThreadData; execArgv: string[] }) => Thread;
};

/**
 * Returns the memory of the token counter with its vocabulary, or nothing where there are no threads, such as in
 * browsers.
 */
export async function buildOnThread(script: string, data: ThreadData): Promise<Uint8Array | undefined> {
  try {
    const { Worker } = require("node:worker_threads");
    return await new Promise((resolve, reject) => {
      // The arguments of the extension host, such as a debugger's port, must not apply to the thread.
      const thread = new Worker(script, { workerData: data, execArgv: [] });
      thread.once("message", resolve);
      thread.once("error", reject);
      thread.once("exit", () => reject(new Error("the thread ended")));
    });
  } catch {
    return undefined;
  }
}
