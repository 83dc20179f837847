// Measured on the way; a check never fails for a figure.
const vscode = require('vscode');

const figures = {};

exports.figures = figures;

exports.note = (name, value) => {
    figures[name] = Math.round(value * 10) / 10;
};

/** The memory of the whole extension host, built-in extensions included: what counts is how it grows. */
exports.memory = (when) => exports.note(`extension host ${when}: resident MB`, process.memoryUsage().rss / 1e6);

/** How long our extension takes to activate, if nobody has asked for it before. */
exports.activation = async () => {
    const extension = vscode.extensions.getExtension('sluice.sluice');
    if (!extension || extension.isActive) return;
    exports.memory('before activation');
    const started = performance.now();
    const { activationMs } = (await extension.activate()) ?? {};
    // The host is busy with all the others at this time, so this is more than our own.
    exports.note('activation in ms, waiting for others included', performance.now() - started);
    if (typeof activationMs === 'number') exports.note('activation in ms, by our own clock', activationMs);
    exports.memory('after activation');
};
