// How long our extension keeps the extension host busy. All extensions share one thread, so only a profile tells them apart.
const { Session } = require("node:inspector/promises");

/** Runs some work. Returns the milliseconds that our extension took in all, and the longest time that it blocked the host. */
exports.profile = async (work) => {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: 250 });
  await session.post("Profiler.start");
  await work();
  const { profile } = await session.post("Profiler.stop");
  session.disconnect();
  return ours(profile);
};

function ours({ nodes, samples, timeDeltas }) {
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const byId = new Map(nodes.map((node) => [node.id, node.callFrame]));
  const known = new Map([[undefined, false]]);
  // Whatever our extension calls counts as well, such as WebAssembly and the host's functions.
  const isOurs = (id) => {
    if (!known.has(id)) known.set(id, byId.get(id).url.includes("sluice.sluice-") || isOurs(parents.get(id)));
    return known.get(id);
  };
  let [total, longest, current] = [0, 0, 0];
  for (const [index, id] of samples.entries()) {
    const ms = (timeDeltas[index + 1] ?? 0) / 1000;
    if (isOurs(id)) {
      total += ms;
      current += ms;
    } else if (byId.get(id).functionName !== "(garbage collector)") {
      current = 0;
    }
    longest = Math.max(longest, current);
  }
  return { total, longest };
}
