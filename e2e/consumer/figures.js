// Measurements. A check never fails because of them.
const vscode = require("vscode");

const figures = {};

exports.figures = figures;

exports.note = (name, value) => {
  figures[name] = Math.round(value * 10) / 10;
};

/** Records the memory of the whole extension host, including built-in extensions: only its growth matters. */
exports.memory = (when) => exports.note(`extension host ${when}: resident MB`, process.memoryUsage().rss / 1e6);

/** Measures how long our extension takes to activate, if it isn't active yet. */
exports.activation = async () => {
  const extension = vscode.extensions.getExtension("sluice.sluice");
  if (!extension || extension.isActive) return;
  exports.memory("before activation");
  const started = performance.now();
  const { activationMs } = (await extension.activate()) ?? {};
  // The host is busy with other extensions at this time, so this includes more than our own time.
  exports.note("activation in ms, including the wait for others", performance.now() - started);
  if (typeof activationMs === "number") exports.note("activation in ms, by our own clock", activationMs);
  exports.memory("after activation");
};
