// Waits until something is true. The deadline doesn't measure anything: it only turns a hang into an error.
import { setTimeout as pause } from "node:timers/promises";

const DEADLINE_MS = 60_000;

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
