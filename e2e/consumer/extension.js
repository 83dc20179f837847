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
    // A line for everything as it happens, so that a hang shows where it is.
    const tell = (line) => fs.appendFileSync(process.env.SLUICE_E2E_RESULTS, `${JSON.stringify(line)}\n`);
    await figures.activation();
    for (const [name, check] of cases) {
        tell({ running: name });
        const started = performance.now();
        let error;
        try {
            await check();
        } catch (thrown) {
            error = thrown?.message ?? String(thrown);
        }
        tell({ result: { name, ok: error === undefined, ms: performance.now() - started, error } });
    }
    tell({ figures: figures.figures });
}
