// Prints the result of each check as it happens, and collects all results.

/** @typedef {{ suite: string, name: string, ok: boolean, ms: number, error?: string }} Result */

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
  if (result.error)
    console.log(
      result.error
        .split("\n")
        .map((line) => `        ${line}`)
        .join("\n"),
    );
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
