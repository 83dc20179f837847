// Asks Vercel on behalf of the user of its CLI: a loop that carries out the steps of the core.

import type { HttpResponse, VercelStep, VercelTask } from "./boundary.js";
import { getUnmasked, type NoAnswer } from "./http.js";
import type { Requests } from "./requests.js";

/** Access to this machine, injected so that everything here can be tested. */
export interface Machine {
  /** The platform in Node's terms. Absent where there are no files, such as in a browser. */
  readonly platform: string | undefined;
  readonly environment: { readonly [name: string]: string | undefined };
  /** Returns null if there is no such file. */
  readFile(path: string): Promise<string | null>;
  fetch(url: string, init: RequestInit): Promise<Response>;
  /** Seconds since 1970. */
  now(): number;
}

export type VercelResult = Extract<VercelStep, { done: unknown }>["done"];

/** Carries out a task. Throws a SignInProblem. */
export async function askVercel(requests: Requests, machine: Machine, task: VercelTask): Promise<VercelResult> {
  const { platform, environment } = machine;
  const paths = platform === undefined ? undefined : requests.vercelFiles(platform, environment);
  // They are read every time, because the CLI renews its token.
  const files = paths && (await Promise.all(paths.map((path) => machine.readFile(path))));
  const answers: HttpResponse[] = [];
  let missing: NoAnswer | undefined;
  for (;;) {
    const failed = missing?.transport;
    const step = requests.vercel({ task, answers, now: machine.now(), ...(files && { files }), ...(failed && { failed }) });
    if ("done" in step) {
      return step.done;
    }
    if ("problem" in step) {
      throw new SignInProblem({ ...step.problem, detail: `${step.problem.detail} ${missing?.code ?? ""}` });
    }
    const answer = await getUnmasked(requests, machine, step.send.request, step.send.bearer);
    if ("transport" in answer) {
      missing = answer;
    } else {
      answers.push(answer);
    }
  }
}

type Problem = Extract<VercelStep, { problem: unknown }>["problem"];

/** The message is for logs; the text for the user is made from the code. It never contains a token. */
export class SignInProblem extends Error {
  override readonly name = "SignInProblem";
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(`${problem.code} ${problem.detail}`.trimEnd());
    this.problem = problem;
    this.stack = this.message;
  }
}
