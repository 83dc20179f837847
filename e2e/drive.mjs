// Drives a real VS Code: `cargo xtask vscode` installs what this needs and calls it.
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { add, figures, results } from './lib/report.mjs';
import { api } from './suites/api.mjs';
import { chat } from './suites/chat.mjs';

/**
 * @typedef {object} Setup
 * @property {string} tools where code-server, its Node and playwright-core are installed
 * @property {string} chromium the browser's program
 * @property {string} gateway the embedded gateway's base URL
 * @property {string} work where the runs write
 * @property {string} shots where the pictures go
 * @property {string[]} vsix
 * @property {string[]} extensions
 * @property {string} catalogue the names of all faults, with commas
 * @property {string} key a key that can be recognised wherever it turns up
 */

const suites = { api, chat };

const { values } = parseArgs({
    options: {
        tools: { type: 'string' },
        chromium: { type: 'string' },
        gateway: { type: 'string' },
        work: { type: 'string' },
        vsix: { type: 'string', multiple: true, default: [] },
        extension: { type: 'string', multiple: true, default: [] },
        catalogue: { type: 'string' },
        only: { type: 'string' },
    },
});
const { tools = '', chromium = '', gateway = '', work = '', vsix, extension: extensions, catalogue = '', only } = values;
/** @type {Setup} */
const setup = { tools, chromium, gateway, work, shots: path.join(work, 'shots'), vsix, extensions, catalogue, key: 'canary-5f2c9e71b84d' };

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
fs.mkdirSync(setup.shots, { recursive: true });
for (const [name, suite] of Object.entries(suites)) {
    if (only && only !== name) continue;
    const started = performance.now();
    try {
        await suite(setup);
    } catch (error) {
        add({ suite: name, name: 'runs to its end', ok: false, ms: performance.now() - started, error: String(error) });
    }
}
fs.writeFileSync(path.join(work, 'results.json'), JSON.stringify({ results, figures }, null, 2));
const failed = results.filter((result) => !result.ok).length;
console.log(`   ${results.length - failed} of ${results.length} checks passed; pictures are in ${setup.shots}`);
process.exit(failed || results.length === 0 ? 1 : 0);
