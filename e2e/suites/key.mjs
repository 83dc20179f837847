// The key: six ways in which content that is opened in VS Code could send it elsewhere, and a search for copies of it.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { check, skip } from "../lib/report.mjs";
import { filesWith, storedInBrowser } from "../lib/search.mjs";
import { startTap } from "../lib/tap.mjs";
import { startTrap } from "../lib/trap.mjs";
import { until } from "../lib/until.mjs";
import { openWindow, startServer } from "../lib/vscode.mjs";

const here = import.meta.dirname;

/** Writes VS Code's log files. It is compiled when VS Code is installed, which requires a C++ compiler. */
const LOG_MODULE = "node_modules/code-server/lib/vscode/node_modules/@vscode/spdlog/build/Release/spdlog.node";

/** @param {import('../lib/setup.mjs').Setup} setup */
export async function key(setup) {
  const trap = await startTrap();
  const redirected = `sluice/echo+redirect=${trap.origin}/v1/responses`;
  const tap = await startTap(setup.gateway, { models: [{ id: redirected, like: "sluice/echo" }] });
  const folder = path.join(setup.work, "key");
  const probes = path.join(setup.work, "probes");
  fs.rmSync(probes, { recursive: true, force: true });
  fs.mkdirSync(probes);
  const hostile = {
    "sluice.baseUrl": `${trap.origin}/v1`,
    "sluice.extraHeaders": { "x-from-workspace": "yes" },
    "http.proxy": trap.origin,
    "http.proxySupport": "override",
    "http.noProxy": [],
  };
  const environment = {
    SLUICE_BASE_URL: `${trap.origin}/v1`,
    AI_GATEWAY_BASE_URL: `${trap.origin}/v1`,
    HTTP_PROXY: trap.origin,
    http_proxy: trap.origin,
  };
  const start = {
    ...setup,
    folder,
    extensions: [...setup.extensions, path.join(here, "../probe")],
    env: {
      SLUICE_BASE_URL: tap.url,
      SLUICE_API_KEY: setup.key,
      SLUICE_E2E_ASK: `sluice/echo ${redirected}`,
      SLUICE_E2E_PROBES: probes,
    },
    files: {
      ".vscode/settings.json": JSON.stringify(hostile),
      ".env": Object.entries(environment)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(""),
      ".devcontainer/devcontainer.json": JSON.stringify({
        image: "any",
        containerEnv: environment,
        remoteEnv: environment,
        customizations: { vscode: { settings: hostile } },
      }),
      "second/.vscode/settings.json": JSON.stringify(hostile),
      "both.code-workspace": JSON.stringify({ folders: [{ path: "." }, { path: "second" }], settings: hostile }),
    },
  };
  /**
   * Opens a window and returns what its probe found.
   * @param {string} name of the workspace @param {Record<string, string>} query
   */
  const probe = async (server, name, query) => {
    // Our own log is as verbose as possible. VS Code's trace log isn't used, because it contains the whole
    // environment.
    const payload = JSON.stringify([["logLevel", "sluice.sluice:trace"]]);
    const window = await openWindow(server, { ...setup, query: { ...query, payload } });
    try {
      const file = path.join(probes, `${name}.json`);
      await until("the probe is done", () => fs.existsSync(file));
      await window.page.screenshot({ path: path.join(setup.shots, `${name}.png`) });
      const stored = await window.page.evaluate(storedInBrowser);
      return { ...JSON.parse(fs.readFileSync(file, "utf8")), stored };
    } finally {
      await window.close();
    }
  };
  const caught = () => trap.seen.filter((request) => request.includes(setup.key));

  let server = await startServer(start);
  try {
    await check("key", "it is sent to its own origin", async () => {
      const { answers, settings, stored } = await probe(server, "workspace", { folder: server.workspace });
      assert.equal(answers["sluice/echo"], "hello");
      assert.notEqual(settings.baseUrl, `${trap.origin}/v1`, "the workspace changed the base URL");
      const request = tap.seen.find((seen) => seen.body?.model === "sluice/echo");
      assert.equal(request?.headers.authorization, `Bearer ${setup.key}`);
      assert.equal(request?.headers["x-from-workspace"], undefined, "the workspace added a header");
      assert.match(answers[redirected], /^failed: .*redirect/, "a redirect was followed");
      assert.equal(stored.includes(setup.key), false, "the browser has stored it");
    });
    await check("key", "workspace settings, .env, a dev container, a proxy and a redirect do not divert it", () =>
      assert.deepEqual(caught(), []),
    );
    await check("key", "a workspace of several folders does not divert it", async () => {
      const { answers } = await probe(server, "both-Workspace-", { workspace: path.join(server.workspace, "both.code-workspace") });
      assert.equal(answers["sluice/echo"], "hello");
      assert.deepEqual(caught(), []);
    });
  } finally {
    await server.stop();
  }
  await check("key", "an environment that names another origin does not divert the gateway's key", async () => {
    fs.rmSync(path.join(probes, "workspace.json"), { force: true });
    const env = { ...start.env, ...environment, SLUICE_API_KEY: "", AI_GATEWAY_API_KEY: setup.key };
    server = await startServer({ ...start, env, keep: true, port: server.port });
    try {
      const { answers } = await probe(server, "workspace", { folder: server.workspace });
      assert.match(answers["sluice/echo"], /^failed: /);
      assert.deepEqual(caught(), []);
    } finally {
      await server.stop();
    }
  });
  tap.close();
  trap.close();
  if (fs.existsSync(path.join(setup.tools, LOG_MODULE))) {
    await check("key", "there is a log to search", () => {
      const logs = fs.globSync(path.join(folder, "user/logs/**/Sluice.log"));
      assert.ok(logs.some((log) => fs.readFileSync(log, "utf8").includes("[trace]")));
    });
  } else {
    skip("key", "there is a log to search", "the module that writes VS Code's log files could not be compiled");
  }
  await check("key", "no file of any run contains it", () => {
    // Every folder with the user's data is a run.
    const runs = fs.globSync(path.join(setup.work, "*/user")).map((user) => path.dirname(user));
    assert.deepEqual(
      runs.flatMap((run) => filesWith(run, setup.key)),
      [],
    );
  });
}
