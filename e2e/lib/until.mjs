// Waits until something is true.
import { setTimeout as pause } from "node:timers/promises";

/** Turns a hang into an error. It is long enough for a machine that is busy with other programs. */
export const DEADLINE_MS = 180_000;

/** How long to wait for the effect of a click or a key that VS Code may have ignored, before trying again. */
export const AGAIN_MS = 10_000;

/**
 * @template T
 * @param {string} what the condition, for the error message
 * @param {() => T | Promise<T>} condition
 * @returns {Promise<NonNullable<T>>}
 */
export async function until(what, condition, deadlineMs = DEADLINE_MS) {
  const end = performance.now() + deadlineMs;
  for (;;) {
    const value = await condition();
    if (value) return /** @type {NonNullable<T>} */ (value);
    if (performance.now() > end) throw new Error(`waited ${deadlineMs / 1000} s in vain until ${what}`);
    await pause(25);
  }
}
