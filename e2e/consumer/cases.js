const assert = require('node:assert/strict');
const vscode = require('vscode');

const user = (text) => vscode.LanguageModelChatMessage.User(text);

/** All parts of an answer as plain values; neighbouring pieces of text are one. */
async function ask(id, messages, options = {}, token) {
    const [model] = await vscode.lm.selectChatModels({ vendor: 'sluice', id });
    assert.ok(model, `there is no model ${id}`);
    const response = await model.sendRequest(messages, options, token);
    const parts = [];
    for await (const part of response.stream) {
        const plain = describe(part);
        const last = parts.at(-1);
        if (last && plain.text !== undefined && last.text !== undefined) last.text += plain.text;
        else parts.push(plain);
    }
    return parts;
}

function describe(part) {
    if (part instanceof vscode.LanguageModelTextPart) return { text: part.value };
    return { unknown: part?.constructor?.name };
}

exports.cases = [
    ['models are listed', async () => {
        const models = await vscode.lm.selectChatModels({ vendor: 'sluice' });
        assert.ok(models.some((model) => model.id === 'sluice/echo'), models.map((model) => model.id).join());
    }],
    ['text comes as it was said', async () => {
        assert.deepEqual(await ask('sluice/echo', [user('Grüße, 水位')]), [{ text: 'Grüße, 水位' }]);
    }],
];
