// Work on files that several windows share: a loop that carries out the steps of the core (crates/sluice-core/src/files.rs).

import type { FileResult, FileStep, FileTask } from "./boundary.js";
import { type Instance, type ModuleExports, QuestionError } from "./module.js";
import { ANSWER } from "./numbers.js";

export interface FileExports extends ModuleExports {
  files(length: number, number: number, isContent: number): void;
}

/** A folder of the shell. */
export interface FileFolder {
  /** Does what a step says. `content` is what is written. Returns the content of a file that was read as bytes. */
  perform(step: FileStep, content: Uint8Array): Promise<FileResult | Uint8Array>;
}

/** Carries out a task in a folder, and returns its result. */
export async function runFiles<T>(instance: Instance<FileExports>, task: unknown, folder: FileFolder): Promise<T> {
  const start: FileTask<unknown> = { task, nowMs: Date.now(), random: [...crypto.getRandomValues(new Uint8Array(16))] };
  let number = 0;
  let result: FileTask<unknown> | FileResult | Uint8Array = start;
  for (;;) {
    const [input, isContent] = result instanceof Uint8Array ? [result, 1] : [JSON.stringify(result), 0];
    instance.run((exports) => exports.files(instance.writeAll([input]), number, isContent));
    const [answer, content = new Uint8Array()] = instance.rowsOfBytes();
    const text = new TextDecoder().decode(answer);
    if (instance.kind(0) !== ANSWER) {
      throw new QuestionError(text);
    }
    const step = JSON.parse(text) as FileStep;
    if (step.type === "done") {
      return step.result as T;
    }
    number = instance.extra(0);
    result = await folder.perform(step, content);
  }
}
