import type { Failure, Outcome } from "../../loader/src/core.js";

/**
 * Why an answer failed. The message is short, because VS Code shows it to the user; `failure` says what kind of failure it
 * is, what to do next, and when to retry.
 */
export class SluiceStreamError extends Error {
  override readonly name = "SluiceStreamError";
  /** The classified failure; `null` if the answer was aborted. */
  readonly failure: Failure | null;
  /** How the answer ended. */
  readonly outcome: Outcome;

  constructor(message: string, outcome: Outcome, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.outcome = outcome;
    this.failure = outcome.error;
    // VS Code would show the stack as well.
    this.stack = `Error: ${message}`;
  }

  /** Returns whether an error is one of these, even if it comes from another copy of this package. */
  static is(error: unknown): error is SluiceStreamError {
    return error instanceof Error && error.name === "SluiceStreamError" && "outcome" in error;
  }
}
