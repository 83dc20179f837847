// Many at once, and what that does to the extension host.
const assert = require('node:assert/strict');
const { monitorEventLoopDelay } = require('node:perf_hooks');
const { parts, said } = require('../ask');

const COUNT = 2000;

module.exports = [
    ['twenty requests at once, each with its own answer', async () => {
        const delay = monitorEventLoopDelay({ resolution: 1 });
        delay.enable();
        const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => parts('sluice/burst', `count to ${COUNT + at}`)));
        delay.disable();
        answers.forEach((answer, at) => {
            const text = Array.from({ length: COUNT + at }, (_, number) => ` ${number}`).join('');
            assert.deepEqual(said(answer), [{ text }]);
        });
        require('../figures').note('event loop, 20 streams at once: longest delay in ms', delay.max / 1e6);
        require('../figures').note('event loop, 20 streams at once: 99th percentile in ms', delay.percentile(99) / 1e6);
    }],
];
