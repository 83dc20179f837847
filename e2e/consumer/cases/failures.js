// Every fault of the embedded gateway: what must not show, what must be said, and how.
const assert = require('node:assert/strict');
const vscode = require('vscode');
const { failure, parts, said, seen, until } = require('../ask');

const kinds = JSON.parse(process.env.SLUICE_E2E_FAULTS);
const PROMPT = 'Every word of this has to arrive, once.';
const TOOL = { name: 'look', description: 'Looks', inputSchema: { type: 'object', properties: { at: { type: 'string' } } } };
const CALLS = 'look {"at":"the gate"} and look {"at":"the wheel"}';

/** One check for each, all under way together. */
const all = async (names, check) => {
    const results = await Promise.all(names.map((name) => check(name).then(() => '', (error) => `${name}: ${error.message}`)));
    const failed = results.filter(Boolean);
    if (failed.length) throw new Error(failed.join('\n'));
};

/** One check for each fault of a kind: the model's id, the fault, and what is expected of it. */
const each = (kind, check) => {
    const { model, faults } = kinds[kind];
    return all(Array.isArray(faults) ? faults : Object.keys(faults), (name) => check(`${model}+${name}`, faults[name]));
};

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
    ['faults of the way bytes come change nothing', () => each('same', async (id) => {
        assert.deepEqual(said(await parts(id, PROMPT)), [{ text: PROMPT }]);
    })],
    ['dialects of thinking change nothing', async () => {
        const expected = said(await parts('sluice/reasoning', PROMPT));
        await each('sameThoughts', async (id) => assert.deepEqual(said(await parts(id, PROMPT)), expected));
    }],
    ['dialects of tool calls change nothing', async () => {
        const calls = (answer) => said(answer).map(({ call, input }) => ({ call, input }));
        const expected = calls(await parts('sluice/parallel-tools', CALLS, { tools: [TOOL] }));
        assert.equal(expected.length, 2);
        await each('sameCalls', async (id) => {
            const answer = await parts(id, CALLS, { tools: [TOOL] });
            assert.deepEqual(calls(answer), expected);
            assert.equal(new Set(said(answer).map((part) => part.id)).size, 2, 'two calls with one id');
        });
    }],
    ['damaged events end well', () => each('completed', async (id) => {
        const answer = said(await parts(id, PROMPT));
        assert.ok(answer.some((part) => part.text), JSON.stringify(answer).slice(0, 300));
    })],
    ['every failure is told in a sentence', () => each('failed', async (id, expected) => {
        const error = await failure(parts(id, PROMPT));
        readable(error);
        assert.match(error.message, new RegExp(expected, 'i'));
    })],
    ['a call that was cut off is not made', () => each('failedCalls', async (id, expected) => {
        const got = [];
        const error = await failure(parts(id, CALLS, { tools: [TOOL] }, undefined, (part) => got.push(part)));
        readable(error);
        assert.match(error.message, new RegExp(expected, 'i'));
        assert.equal(got.filter((part) => part instanceof vscode.LanguageModelToolCallPart).length, 0);
    })],
    ['answers without words are explained', () => all(['sluice/empty', 'sluice/thinking-only'], async (id) => {
        readable(await failure(parts(id, PROMPT)));
    })],
    ['what came before a failure stays', () => all(['incomplete', 'content-filter', 'failed', 'error'], async (name) => {
        const got = [];
        readable(await failure(parts(`sluice/${name}+pace=60`, PROMPT, {}, undefined, (part) => got.push(part))));
        assert.deepEqual(said(got), [{ text: 'This answer is cut off in the middle of a' }]);
    })],
    ['a server that says nothing can be left', () => each('cancelled', async (id) => {
        const source = new vscode.CancellationTokenSource();
        const answer = parts(id, PROMPT, {}, source.token).catch(() => undefined);
        await until('the request has come', async () => (await seen(id)).length > 0);
        source.cancel();
        await answer;
        await until('the connection is closed', async () => (await seen(id)).at(-1).hungUp);
    })],
    ['there is a check for every fault', () => {
        const names = Object.values(kinds).flatMap(({ faults }) => (Array.isArray(faults) ? faults : Object.keys(faults)));
        const checked = new Set(names.map((name) => name.split('=')[0]));
        assert.deepEqual(process.env.SLUICE_E2E_CATALOGUE.split(',').filter((name) => !checked.has(name)), []);
    }],
];
