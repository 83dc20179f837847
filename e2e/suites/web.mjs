// The web worker extension host, which has no Node: it runs the same packed extension, and another one that asks it.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { check } from "../lib/report.mjs";
import { until } from "../lib/until.mjs";
import { finish, openWindow, startServer } from "../lib/vscode.mjs";

/** @param {import('../lib/setup.mjs').Setup} setup */
export async function web(setup) {
  const server = await startServer({
    ...setup,
    folder: path.join(setup.work, "web"),
    extensions: [...setup.extensions, path.join(import.meta.dirname, "../web-consumer")],
    // By default, VS Code would run an extension with both entry points in the Node host.
    settings: { "remote.extensionKind": { "sluice.sluice": ["web"] } },
  });
  const window = await openWindow(server, setup);
  try {
    const file = path.join(server.workspace, "result.json");
    await until("the other extension is done", () => fs.existsSync(file) && fs.readFileSync(file, "utf8").endsWith("}\n"));
    const result = JSON.parse(fs.readFileSync(file, "utf8"));
    await check("web", "the extension runs in the web worker host", () => assert.equal(result.host, "web worker"));
    await check("web", "the demo model is available without a key", () => assert.deepEqual(result.models, ["sluice/demo"]));
    await check("web", "tokens are counted", () => assert.ok(result.count > 5 && result.count < 20, String(result.count)));
    await check("web", "it answers, with WebAssembly and without a server", () =>
      assert.match(result.answer ?? result.error, /I am the Sluice demo: rules, not a language model\./),
    );
    await check("web", "it calls a tool", () => assert.deepEqual(result.calls, [{ name: "read_file", input: { path: "notes.md" } }]));
  } finally {
    await window.page.screenshot({ path: path.join(setup.shots, "window.png") });
    await finish(setup, server, window);
  }
}
