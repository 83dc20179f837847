// How everything here is timed: contenders take turns, round by round, in one process, and the medians are compared.
// Young garbage is collected before each turn, so that nobody pays for a neighbour's. A full collection would throw compiled
// code away as well, and every turn would begin cold.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc");

/**
 * The median time of each contender in milliseconds, in their order. A contender with `every: n` takes part in one
 * round out of n, for those too slow to run as often as the others. One untimed round warms the compiler up.
 */
export async function medians(rounds, contenders) {
  return (await measure(rounds, contenders)).map(median);
}

/**
 * The least time of each contender: what it takes when nobody disturbs it. For short work on a machine so busy that the
 * median is somebody else's.
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
