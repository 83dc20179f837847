// Another extension uses the models through vscode.lm; it does the checking, here it is only started and listened to.
import fs from 'node:fs';
import path from 'node:path';
import { startTap } from '../lib/tap.mjs';
import { until } from '../lib/until.mjs';
import { openWindow, startServer } from '../lib/vscode.mjs';
import { add } from '../lib/report.mjs';

/** @param {import('../drive.mjs').Setup} setup */
export async function api(setup) {
    const tap = await startTap(setup.gateway);
    const results = path.join(setup.work, 'api-results.json');
    fs.rmSync(results, { force: true });
    const server = await startServer({
        ...setup,
        folder: path.join(setup.work, 'api'),
        extensions: [...setup.extensions, path.join(import.meta.dirname, '../consumer')],
        env: { SLUICE_E2E_RESULTS: results, SLUICE_E2E_TAP: tap.origin, SLUICE_BASE_URL: tap.url, AI_GATEWAY_API_KEY: setup.key },
    });
    const window = await openWindow(server, setup);
    try {
        await until('the other extension is done', () => fs.existsSync(results));
        for (const result of JSON.parse(fs.readFileSync(results, 'utf8')).results) add({ suite: 'api', ...result });
        await window.page.screenshot({ path: path.join(setup.shots, 'api.png') });
    } finally {
        await window.close();
        await server.stop();
        tap.close();
    }
}
