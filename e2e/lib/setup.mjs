// The arguments that xtask passes to the programs in this folder.
import path from "node:path";
import { parseArgs } from "node:util";

/**
 * @typedef {object} Setup
 * @property {string} tools where code-server, its Node and playwright-core are installed
 * @property {string} chromium the browser's program
 * @property {string} gateway the embedded gateway's base URL
 * @property {Record<string, string>} imitated the base URLs of gateways that imitate other servers, by their names
 * @property {string} work where the runs write
 * @property {string} shots where the pictures go
 * @property {string[]} vsix
 * @property {string[]} extensions
 * @property {string} catalogue the names of all faults, with commas
 * @property {string} key a key that can be recognised wherever it turns up
 * @property {string} [only] the name of a suite
 * @property {string} [spacing] measure only words at this distance, in milliseconds
 * @property {boolean} headless
 * @property {boolean} keep leave VS Code open after the suite
 */

/** @returns {Setup} */
export function setup() {
  const { values } = parseArgs({
    options: {
      tools: { type: "string", default: "" },
      chromium: { type: "string", default: "" },
      gateway: { type: "string", default: "" },
      imitated: { type: "string", multiple: true, default: [] },
      work: { type: "string", default: "" },
      vsix: { type: "string", multiple: true, default: [] },
      extension: { type: "string", multiple: true, default: [] },
      catalogue: { type: "string", default: "" },
      only: { type: "string" },
      spacing: { type: "string" },
      headless: { type: "boolean", default: false },
      keep: { type: "boolean", default: false },
    },
  });
  const { extension: extensions, ...others } = values;
  const shots = path.join(values.work, "shots");
  // A signal ends the program normally, so that the processes it started are ended too.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(1));
  const imitated = Object.fromEntries(values.imitated.map((one) => one.split(/=(.*)/, 2)));
  return { ...others, extensions, imitated, shots, key: "canary-5f2c9e71b84d" };
}
