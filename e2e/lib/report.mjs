// Prints the result of each check as it happens, and collects all results.

/** @typedef {{ suite: string, name: string, ok: boolean, ms: number, error?: string, skipped?: string }} Result */

/** @type {Result[]} */
export const results = [];

/**
 * Measurements.
 * @type {Record<string, number>}
 */
export const figures = {};

/** @param {Result} result */
export function add(result) {
  results.push(result);
  const time = `${(result.ms / 1000).toFixed(1)} s`.padStart(8);
  console.log(`   ${result.ok ? "ok  " : "FAIL"} ${time}  ${result.suite}: ${result.name}`);
  if (result.error) console.log(result.error.replace(/^/gm, "        "));
}

/**
 * Notes that a check can't run on this machine.
 * @param {string} suite @param {string} name @param {string} reason
 */
export function skip(suite, name, reason) {
  results.push({ suite, name, ok: true, ms: 0, skipped: reason });
  console.log(`   SKIPPED: ${suite}: ${name}, because ${reason}`);
}

/**
 * Runs one check and returns whether it passed. A failure doesn't stop the suite; later checks that depend on it use
 * the returned value.
 * @param {string} suite @param {string} name @param {() => unknown} check
 */
export async function check(suite, name, check) {
  const started = performance.now();
  let error;
  try {
    await check();
  } catch (thrown) {
    error = thrown instanceof Error ? thrown.message : String(thrown);
  }
  add({ suite, name, ok: error === undefined, ms: performance.now() - started, error });
  return error === undefined;
}
