// Looks for a text in everything a run has left behind.
import fs from 'node:fs';
import path from 'node:path';

/** Every file under a folder that has the text, in one of the ways programs write it. @param {string} folder @param {string} text */
export function filesWith(folder, text) {
    const spellings = [Buffer.from(text), Buffer.from(text, 'utf16le'), ...base64(text)];
    return fs
        .readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => path.join(entry.parentPath, entry.name))
        .filter((file) => {
            const bytes = fs.readFileSync(file);
            return spellings.some((spelling) => bytes.includes(spelling));
        });
}

/** The text in the middle of something longer looks different by where it begins. @param {string} text */
function base64(text) {
    return [0, 1, 2].map((before) => {
        const encoded = Buffer.from('\0'.repeat(before) + text).toString('base64');
        // Its first and last letters also depend on the neighbours.
        return Buffer.from(encoded.slice(before ? 4 : 0, -4));
    });
}

/** Runs in the browser: all that a page of this origin has stored, as one text. */
export async function storedInBrowser() {
    const all = [JSON.stringify({ ...localStorage }), JSON.stringify({ ...sessionStorage })];
    for (const { name } of await indexedDB.databases()) {
        const database = await new Promise((resolve, reject) => {
            const opening = indexedDB.open(name ?? '');
            opening.onsuccess = () => resolve(opening.result);
            opening.onerror = () => reject(opening.error);
        });
        for (const store of database.objectStoreNames) {
            const rows = await new Promise((resolve, reject) => {
                const reading = database.transaction(store).objectStore(store).getAll();
                reading.onsuccess = () => resolve(reading.result);
                reading.onerror = () => reject(reading.error);
            });
            const text = rows.map((/** @type {unknown} */ row) => (row instanceof ArrayBuffer || ArrayBuffer.isView(row) ? new TextDecoder().decode(row) : JSON.stringify(row)));
            all.push(`${name}/${store}: ${text.join('\n')}`);
        }
        database.close();
    }
    return all.join('\n');
}
