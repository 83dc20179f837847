// Work that the core leads: a loop that carries out its steps (crates/sluice-core/src/files.rs).

import type { WorkResult, WorkStep, WorkTask } from "./boundary.js";
import { type Instance, type ModuleExports, QuestionError } from "./module.js";
import { ANSWER } from "./numbers.js";

export interface WorkExports extends ModuleExports {
  work(length: number, number: number, isContent: number): void;
  drop_work(number: number): void;
}

/** What a shell can do for the core: use the files of its folder, or ask a server. */
export interface Shell {
  /** Does what a step says. `content` is what is written. Returns the content of a file that was read as bytes. */
  perform(step: WorkStep, content: Uint8Array): Promise<WorkResult | Uint8Array>;
}

/** Carries out a task, and returns its result. If a step fails, so does the task. */
export async function runWork<T>(instance: Instance<WorkExports>, task: unknown, shell: Shell): Promise<T> {
  const start: WorkTask<unknown> = { task, nowMs: Date.now(), random: [...crypto.getRandomValues(new Uint8Array(16))] };
  let number = 0;
  let result: WorkTask<unknown> | WorkResult | Uint8Array = start;
  for (;;) {
    const [input, isContent] = result instanceof Uint8Array ? [result, 1] : [JSON.stringify(result), 0];
    instance.run((exports) => exports.work(instance.writeAll([input]), number, isContent));
    const [answer, content = new Uint8Array()] = instance.rowsOfBytes();
    const text = new TextDecoder().decode(answer);
    if (instance.kind(0) !== ANSWER) {
      throw new QuestionError(text);
    }
    const step = JSON.parse(text) as WorkStep;
    if (step.type === "done") {
      return step.result as T;
    }
    number = instance.extra(0);
    try {
      result = await shell.perform(step, content);
    } catch (error) {
      instance.run((exports) => exports.drop_work(number));
      throw error;
    }
  }
}
