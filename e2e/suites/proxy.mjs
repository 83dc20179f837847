// VS Code is configured to use a proxy, by its settings and by its environment. The proxy must see neither the key nor a prompt for
// an endpoint on this machine, and nothing at all of the demo.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { check } from "../lib/report.mjs";
import { startTap } from "../lib/tap.mjs";
import { startTrap } from "../lib/trap.mjs";
import { until } from "../lib/until.mjs";
import { openWindow, startServer } from "../lib/vscode.mjs";

const here = import.meta.dirname;

/** @param {import('../lib/setup.mjs').Setup} setup */
export async function proxy(setup) {
  const trap = await startTrap();
  const probes = path.join(setup.work, "proxy-probes");
  fs.rmSync(probes, { recursive: true, force: true });
  fs.mkdirSync(probes);
  const environment = Object.fromEntries(
    ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].flatMap((name) => [name, name.toLowerCase()]).map((name) => [name, trap.origin]),
  );
  /** Asks a model in a window of its own. @param {Record<string, unknown>} settings @param {Record<string, string>} env */
  const ask = async (settings, env) => {
    const file = path.join(probes, "workspace.json");
    fs.rmSync(file, { force: true });
    trap.seen.length = 0;
    const server = await startServer({
      ...setup,
      folder: path.join(setup.work, "proxy"),
      extensions: [...setup.extensions, path.join(here, "../probe")],
      settings,
      env: { ...environment, NO_PROXY: "", no_proxy: "", SLUICE_E2E_PROBES: probes, ...env },
    });
    const window = await openWindow(server, setup);
    try {
      await until("the probe is done", () => fs.existsSync(file));
      return JSON.parse(fs.readFileSync(file, "utf8")).answers;
    } finally {
      await window.close();
      await server.stop();
    }
  };
  const caught = () => trap.seen.filter((request) => request.includes(setup.key) || request.includes("hello"));
  const forced = { "http.proxy": trap.origin, "http.proxySupport": "override", "http.noProxy": [] };
  // Node itself uses the proxy of the environment then, for everything that VS Code leaves to it.
  const byNode = { "http.proxySupport": "off", "http.fetchAdditionalSupport": false, "http.systemCertificates": false };

  try {
    for (const [name, host, settings, env] of /** @type {const} */ ([
      // VS Code itself makes an exception for 127.0.0.1 and localhost.
      ["VS Code's proxy", "127.0.0.2", forced, {}],
      ["Node's proxy", "127.0.0.1", byNode, { NODE_USE_ENV_PROXY: "1" }],
    ])) {
      await check("proxy", `${name} does not see what goes to ${host}`, async () => {
        const tap = await startTap(setup.gateway, { host });
        try {
          const answers = await ask(settings, {
            SLUICE_BASE_URL: tap.url,
            SLUICE_API_KEY: setup.key,
            SLUICE_E2E_ASK: "sluice/echo",
            ...env,
          });
          assert.deepEqual(caught(), []);
          assert.equal(answers["sluice/echo"], "hello");
          assert.equal(tap.seen.find((seen) => seen.body?.model === "sluice/echo")?.headers.authorization, `Bearer ${setup.key}`);
        } finally {
          tap.close();
        }
      });
    }
    await check("proxy", "the demo is answered without it", async () => {
      const answers = await ask(forced, { SLUICE_E2E_ASK: "sluice/demo" });
      assert.match(answers["sluice/demo"], /demo/i);
      assert.deepEqual(caught(), []);
    });
  } finally {
    trap.close();
  }
}
