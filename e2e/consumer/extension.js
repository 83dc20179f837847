// A second extension that uses Sluice's models as any other extension would, and writes down what came of it.
const fs = require('node:fs');
const { cases } = require('./cases');

exports.activate = () => void run();

async function run() {
    const file = process.env.SLUICE_E2E_RESULTS;
    // The other suites have this extension too, as a bystander.
    if (!file) return;
    const results = [];
    for (const [name, check] of cases) {
        const started = performance.now();
        let error;
        try {
            await check();
        } catch (thrown) {
            error = thrown?.message ?? String(thrown);
        }
        results.push({ name, ok: error === undefined, ms: performance.now() - started, error });
        // All so far, so that a hang shows where it is.
        fs.writeFileSync(`${file}.part`, JSON.stringify({ results, running: true }));
    }
    fs.writeFileSync(`${file}.part`, JSON.stringify({ results }));
    fs.renameSync(`${file}.part`, file);
}
