// How everything here is timed: contenders take turns, round by round, in one process, and the medians are compared.
// Young garbage is collected before each turn, so that no contender pays for another's. A full collection would also
// discard compiled code, and every turn would start cold.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc");

/**
 * Returns the median time of each contender in milliseconds. A contender with `every: n` takes part in only one of n
 * rounds, because it is too slow to run as often as the others. One untimed round warms up the compiler.
 */
export async function medians(rounds, contenders) {
  return (await measure(rounds, contenders)).map(median);
}

/**
 * Returns the minimum time of each contender, for short work on a machine that is too busy for medians.
 */
export async function least(rounds, contenders) {
  return (await measure(rounds, contenders)).map((times) => Math.min(...times));
}

async function measure(rounds, contenders) {
  const times = contenders.map(() => []);
  for (let round = 0; round <= rounds; round++) {
    for (let turn = 0; turn < contenders.length; turn++) {
      const which = (round + turn) % contenders.length;
      const { run, every = 1 } = contenders[which];
      if (round % every !== 0 && round !== 1) continue;
      collectGarbage({ type: "minor" });
      const start = performance.now();
      await run();
      const time = performance.now() - start;
      if (round > 0) times[which].push(time);
    }
  }
  return times;
}

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
