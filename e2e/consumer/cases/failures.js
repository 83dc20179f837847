// Every fault of the embedded gateway: what must not show, what must be said, and how.
const assert = require('node:assert/strict');
const vscode = require('vscode');
const { failure, parts, said, seen, until } = require('../ask');

const faults = JSON.parse(process.env.SLUICE_E2E_FAULTS);
const PROMPT = 'Every word of this has to arrive, once.';
const TOOL = { name: 'look', description: 'Looks', inputSchema: { type: 'object', properties: { at: { type: 'string' } } } };
const CALLS = 'look {"at":"the gate"} and look {"at":"the wheel"}';

/** One check for each fault, all under way together. */
const all = (names, check) => Promise.all(names.map((name) => check(name).catch((error) => ({ name, error })))).then((results) => {
    const failed = results.filter((result) => result?.error);
    assert.equal(failed.length, 0, failed.map(({ name, error }) => `${name}: ${error.message}`).join('\n'));
});

/** What an error looks like to whoever catches it, and to Chat. */
function readable(error) {
    assert.ok(error instanceof Error, `it is no Error: ${error}`);
    assert.ok(error.message.length > 10 && error.message.length < 600, `this is no message for people: ${error.message}`);
    assert.doesNotMatch(error.message, /\n\s+at |undefined|\[object|TypeError|fetch failed|^Error:/, error.message);
    assert.ok(!error.message.includes(process.env.AI_GATEWAY_API_KEY), 'it tells the key');
    // Chat shows the stack behind the message, if there is one.
    assert.doesNotMatch(error.stack ?? '', /extension\.js|dist\//, `its stack leads into our code: ${error.stack}`);
}

module.exports = [
    ['faults of the way bytes come change nothing', () => all(faults.same, async (name) => {
        assert.deepEqual(said(await parts(`sluice/echo+${name}`, PROMPT)), [{ text: PROMPT }]);
    })],
    ['dialects of tool calls change nothing', async () => {
        const expected = said(await parts('sluice/parallel-tools', CALLS, { tools: [TOOL] })).map(({ call, input }) => ({ call, input }));
        assert.equal(expected.length, 2);
        await all([...faults.sameCalls, ...faults.sameCallsOtherIds], async (name) => {
            const answer = said(await parts(`sluice/parallel-tools+${name}`, CALLS, { tools: [TOOL] }));
            assert.deepEqual(answer.map(({ call, input }) => ({ call, input })), expected);
            assert.equal(new Set(answer.map(({ id }) => id)).size, 2, 'two calls with one id');
        });
    }],
    ['damaged events end well', () => all(faults.completed, async (name) => {
        const answer = said(await parts(`sluice/echo+${name}`, PROMPT));
        assert.ok(answer.some((part) => part.text), JSON.stringify(answer).slice(0, 300));
    })],
    ['every failure is told in a sentence', () => all(Object.keys(faults.failed), async (name) => {
        const error = await failure(parts(`sluice/echo+${name}`, PROMPT));
        readable(error);
        assert.match(error.message, new RegExp(faults.failed[name], 'i'));
    })],
    ['a call that was cut off is not made', () => all(Object.keys(faults.failedCalls), async (name) => {
        const got = [];
        const error = await failure(parts(`sluice/tools+${name}`, CALLS, { tools: [TOOL] }, undefined, (part) => got.push(part)));
        readable(error);
        assert.match(error.message, new RegExp(faults.failedCalls[name], 'i'));
        assert.equal(got.filter((part) => part instanceof vscode.LanguageModelToolCallPart).length, 0);
    })],
    ['answers without words are explained', () => all(['sluice/empty', 'sluice/thinking-only'], async (id) => {
        readable(await failure(parts(id, PROMPT)));
    })],
    ['what came before a failure stays', () => all(['sluice/incomplete', 'sluice/content-filter', 'sluice/failed', 'sluice/error'], async (id) => {
        const got = [];
        readable(await failure(parts(id, PROMPT, {}, undefined, (part) => got.push(part))));
        assert.deepEqual(said(got), [{ text: 'This answer is cut off in the middle of a' }]);
    })],
    ['a server that says nothing can be left', () => all(faults.cancelled, async (name) => {
        const id = `sluice/echo+${name}`;
        const source = new vscode.CancellationTokenSource();
        const answer = parts(id, PROMPT, {}, source.token).catch(() => undefined);
        await until('the request has come', async () => (await seen(id)).length > 0);
        source.cancel();
        await answer;
        await until('the connection is closed', async () => (await seen(id)).at(-1).hungUp);
    })],
    ['there is a check for every fault', () => {
        const checked = new Set(Object.values(faults).flatMap((names) => (Array.isArray(names) ? names : Object.keys(names))).map((name) => name.split('=')[0]));
        assert.deepEqual(process.env.SLUICE_E2E_CATALOGUE.split(',').filter((name) => !checked.has(name)), []);
    }],
];
