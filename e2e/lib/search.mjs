// Searches everything that a run has left behind for a text.
import fs from "node:fs";
import path from "node:path";

/**
 * Returns every file under a folder that contains the text in one of the usual encodings.
 * @param {string} folder @param {string} text
 */
export function filesWith(folder, text) {
  const spellings = [Buffer.from(text), Buffer.from(text, "utf16le"), ...base64(text)];
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => {
      const bytes = fs.readFileSync(file);
      return spellings.some((spelling) => bytes.includes(spelling));
    });
}

/**
 * Returns the text's base64 encodings. They depend on its position within longer data.
 * @param {string} text
 */
function base64(text) {
  return [0, 1, 2].map((before) => {
    const encoded = Buffer.from("\0".repeat(before) + text).toString("base64");
    // The first and last characters also depend on the adjacent bytes.
    return Buffer.from(encoded.slice(before ? 4 : 0, -4));
  });
}

/** Runs in the browser: returns everything that this origin has stored, as one text. */
export async function storedInBrowser() {
  const all = [JSON.stringify({ ...localStorage }), JSON.stringify({ ...sessionStorage })];
  for (const { name } of await indexedDB.databases()) {
    const database = await new Promise((resolve, reject) => {
      const opening = indexedDB.open(name ?? "");
      opening.onsuccess = () => resolve(opening.result);
      opening.onerror = () => reject(opening.error);
    });
    for (const store of database.objectStoreNames) {
      const rows = await new Promise((resolve, reject) => {
        const reading = database.transaction(store).objectStore(store).getAll();
        reading.onsuccess = () => resolve(reading.result);
        reading.onerror = () => reject(reading.error);
      });
      const text = rows.map((/** @type {unknown} */ row) =>
        row instanceof ArrayBuffer || ArrayBuffer.isView(row) ? new TextDecoder().decode(row) : JSON.stringify(row),
      );
      all.push(`${name}/${store}: ${text.join("\n")}`);
    }
    database.close();
  }
  return all.join("\n");
}
