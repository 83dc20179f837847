// A second extension that uses Sluice's models as any other extension would, and writes down what came of it.
const fs = require('node:fs');
const figures = require('./figures');

const cases = [
    ...require('./cases/models'),
    ...require('./cases/parts'),
    ...require('./cases/failures'),
    ...require('./cases/many'),
];

exports.activate = () => void run();

async function run() {
    const file = process.env.SLUICE_E2E_RESULTS;
    const results = [];
    await figures.activation();
    for (const [name, check] of cases) {
        // All so far, so that a hang shows where it is.
        fs.writeFileSync(`${file}.part`, JSON.stringify({ results, running: name }));
        const started = performance.now();
        let error;
        try {
            await check();
        } catch (thrown) {
            error = thrown?.message ?? String(thrown);
        }
        results.push({ name, ok: error === undefined, ms: performance.now() - started, error });
    }
    fs.writeFileSync(`${file}.part`, JSON.stringify({ results, figures: figures.figures }));
    fs.renameSync(`${file}.part`, file);
}
