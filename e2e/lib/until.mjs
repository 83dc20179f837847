// Waiting for something to be true. The deadline is not a measure of anything: it only turns a hang into an error.
import { setTimeout as pause } from 'node:timers/promises';

const DEADLINE_MS = 60_000;

/**
 * @template T
 * @param {string} what as in "waited for … in vain"
 * @param {() => T | Promise<T>} condition
 * @returns {Promise<NonNullable<T>>}
 */
export async function until(what, condition, deadlineMs = DEADLINE_MS) {
    const end = performance.now() + deadlineMs;
    for (;;) {
        const value = await condition();
        if (value) return /** @type {NonNullable<T>} */ (value);
        if (performance.now() > end) throw new Error(`waited ${deadlineMs / 1000} s until ${what}, in vain`);
        await pause(25);
    }
}
