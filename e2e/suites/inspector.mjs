// The inspector in the side bar: one click away, fast with a thousand requests, accessible in every theme, and without a
// request to the network.
import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { Chat } from "../lib/chat.mjs";
import { inspector as openInspector } from "../lib/inspector.mjs";
import { startPriced } from "../lib/priced.mjs";
import { records } from "../lib/records.mjs";
import { check, figures } from "../lib/report.mjs";
import { until } from "../lib/until.mjs";
import { finish, openWindow, readSettings, startServer } from "../lib/vscode.mjs";

const REQUESTS = 1_000;
/** The longest time for which the page may stop reacting. */
const STALL_MS = 50;
/** Other programs on this machine can stall the browser, but hardly every time. */
const ATTEMPTS = 5;
/** Themes, and what VS Code calls their kinds. */
const THEMES = {
  light: { theme: "Light 2026", kind: "vscode-light" },
  dark: { theme: "Dark 2026", kind: "vscode-dark" },
  "high contrast": { theme: "Default High Contrast", kind: "vscode-high-contrast" },
  "light high contrast": { theme: "Default High Contrast Light", kind: "vscode-high-contrast-light" },
};
/** A text that would be recognized in any file. */
const CANARY = "canary-2b7f91c3e5";
const AXE = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** @param {import('../lib/setup.mjs').Setup} setup */
export async function inspector(setup) {
  const gateway = await startPriced({ inputTokens: 19_000 });
  const server = await startServer({
    ...setup,
    folder: path.join(setup.work, "inspector"),
    env: { SLUICE_BASE_URL: gateway.baseUrl, SLUICE_API_KEY: setup.key },
    settings: {
      "workbench.colorTheme": THEMES.dark.theme,
      "sluice.spend.day": 2,
      "sluice.spend.month": 100,
      "sluice.spend.models": { "acme/priced": { day: 1 } },
    },
  });
  const kept = path.join(server.folder, "user/User/globalStorage/sluice.sluice/records");
  fs.mkdirSync(kept, { recursive: true });
  const lines = records(REQUESTS, Date.now() - 60_000).map((record) => JSON.stringify(record));
  for (let from = 0; from < REQUESTS; from += 100) {
    fs.writeFileSync(path.join(kept, `${Date.now()}-${from}.gz`), gzipSync(lines.slice(from, from + 100).join("\n")));
  }
  const window = await openWindow(server, setup);
  const { page, foreign } = window;
  const view = new Chat(page);
  const settings = path.join(server.folder, "user/User/settings.json");
  const item = page.locator('.statusbar-item[id="sluice.sluice.sluice.status"]').first();
  const shot = (/** @type {string} */ name) => page.screenshot({ path: path.join(setup.shots, `${name.replace(/\W+/g, "-")}.png`) });
  try {
    await check("inspector", "one click on the status bar opens it", async () => {
      await view.open();
      await view.pick("Priced");
      await view.ask(`Hello, ${CANARY}!`);
      await item.waitFor();
      await item.click();
      const frame = await openInspector(page, '[role="treeitem"]');
      // The newest conversation is open, and its last request is shown.
      await frame.locator(".request h2").first().waitFor();
      await frame.locator(".request dd", { hasText: "acme/priced" }).first().waitFor();
      await shot("opened");
    });
    await check("inspector", "the status bar shows the same percentage as VS Code's ring", async () => {
      const theirs = await view.ringPercentage();
      await until("ours is the same", async () => Number(/(\d+) %/.exec(await item.innerText())?.[1]) === theirs);
      figures["%: the context window in the status bar and in VS Code's ring"] = theirs;
    });
    const storage = path.dirname(kept);
    const memory = () => fs.readdirSync(storage).filter((name) => name.startsWith("memory-"));
    /** The files of this extension with the canary in them, compressed or not. */
    const findCanary = () =>
      fs
        .readdirSync(path.join(server.folder, "user"), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && /sluice/i.test(path.join(entry.parentPath, entry.name)))
        .map((entry) => path.join(entry.parentPath, entry.name))
        .filter((file) => {
          const bytes = fs.readFileSync(file);
          return (file.endsWith(".gz") ? gunzipSync(bytes) : bytes).includes(CANARY);
        });
    const filesWithCanary = () => {
      for (;;) {
        try {
          return findCanary();
        } catch (error) {
          // The extension renamed or deleted a file between listing and reading; look again.
          if (/** @type {NodeJS.ErrnoException} */ (error).code !== "ENOENT") throw error;
        }
      }
    };
    await check("inspector", "without recording, no file of the extension has a message", async () => {
      await until("the usage is saved", () => memory().some((name) => fs.statSync(path.join(storage, name)).size > 100));
      await until("the record is saved", () => fs.readdirSync(kept).some((name) => /-[\da-f]{32}-\d+\.gz$/.test(name)));
      assert.deepEqual(filesWithCanary(), []);
    });
    await check("inspector", "with recording on, messages are kept until one command deletes them", async () => {
      await view.command("Sluice: Start or Stop Recording in This Workspace");
      await page.locator(".monaco-dialog-box").getByRole("button", { name: "Record" }).click();
      await view.ask(`Hello again, ${CANARY}!`);
      await until("the exchange is recorded", () => filesWithCanary().length > 0);
      assert.ok(filesWithCanary().every((file) => file.includes("/recordings/")));
      await view.command("Sluice: Delete the Recordings of This Workspace");
      await until("the recordings are deleted", () => filesWithCanary().length === 0);
    });
    let frame = await openInspector(page, '[role="tree"]');
    await check("inspector", "a thousand requests are listed without a stall", async () => {
      let worst = Number.POSITIVE_INFINITY;
      for (let attempt = 0; attempt < ATTEMPTS && worst > STALL_MS; attempt += 1) {
        await frame.getByRole("button", { name: "Collapse All" }).click();
        const { longest, rows, position } = await frame.evaluate(scrollThrough, REQUESTS);
        assert.ok(position >= REQUESTS, `only ${position} rows were shown`);
        assert.ok(rows < 100, `${rows} rows were in the page at the same time`);
        worst = Math.min(worst, longest);
      }
      figures["ms: longest stall of the inspector with 1,000 requests"] = Math.round(worst);
      assert.ok(worst <= STALL_MS, `the page stalled for ${worst} ms`);
    });
    await check("inspector", "the keyboard reaches every request", async () => {
      await frame.locator('[role="tree"]').focus();
      await page.keyboard.press("Home");
      await page.keyboard.press("ArrowLeft");
      await until("the first conversation is closed", async () => (await selected(frame, "aria-expanded")) === "false");
      await page.keyboard.press("ArrowRight");
      await until("the first conversation is open", async () => (await selected(frame, "aria-expanded")) === "true");
      await page.keyboard.press("ArrowRight");
      await until("its first turn is selected", async () => (await selected(frame, "aria-level")) === "2");
      await page.keyboard.press("End");
      await until("the last request is selected and shown", async () => {
        const active = await frame.locator('[role="tree"]').getAttribute("aria-activedescendant");
        return (await frame.locator(`#${active}[aria-selected="true"]`).count()) === 1;
      });
      await page.keyboard.press("Home");
    });
    await check("inspector", "two requests are compared piece by piece", async () => {
      await frame.getByRole("button", { name: "Expand All" }).click();
      await frame.locator('[role="tree"]').evaluate((/** @type {Element} */ tree) => tree.scrollTo(0, 600));
      await frame.locator('[role="treeitem"].round').first().click();
      const choice = frame.getByLabel("Compare with");
      await choice.waitFor();
      await choice.selectOption({ index: 1 });
      await frame.locator(".compared tbody tr").first().waitFor();
      assert.match(await frame.locator('[role="status"]').innerText(), /tokens are the same/);
    });
    for (const [name, { theme, kind }] of Object.entries(THEMES)) {
      await check("inspector", `it is accessible in the theme ${name}`, async () => {
        fs.writeFileSync(settings, JSON.stringify({ ...readSettings(settings), "workbench.colorTheme": theme }, null, 2));
        // A window that is open may not notice that the file has changed.
        await page.reload();
        await view.command("Sluice: Show Usage");
        frame = await openInspector(page);
        await until("the theme is used", async () => (await frame.locator("body").getAttribute("data-vscode-theme-kind")) === kind);
        for (const tab of ["Requests", "Usage"]) {
          await frame.getByRole("tab", { name: tab }).click();
          await frame
            .locator(tab === "Usage" ? ".chart .column" : ".request h2")
            .first()
            .waitFor();
          if (tab === "Usage") {
            // The limits are drawn in, and the server says how much credit is left.
            await frame.locator(".chart .limit").waitFor();
            assert.equal(await frame.locator(".limits li").count(), 3);
            await frame.getByText("of credit is left").waitFor();
          }
          await shot(`${name} ${tab}`);
          assert.deepEqual(await violations(frame), [], `${theme}, ${tab}`);
        }
        await frame.getByRole("tab", { name: "Requests" }).click();
      });
    }
    await check("inspector", "no request leaves the page", async () => {
      assert.deepEqual([...foreign], []);
      const refused = await frame.evaluate(async () => {
        const attempts = [fetch("https://elsewhere.example/"), fetch("http://127.0.0.1/")];
        return (await Promise.allSettled(attempts)).map(({ status }) => status);
      });
      assert.deepEqual(refused, ["rejected", "rejected"], "the page's policy forbids every connection");
    });
  } finally {
    await finish(setup, server, window);
    gateway.close();
  }
}

/** @param {any} frame @param {string} attribute */
const selected = (frame, attribute) => frame.locator('[role="treeitem"][aria-selected="true"]').first().getAttribute(attribute);

/** Returns what axe-core finds, with the elements. @param {any} frame @returns {Promise<string[]>} */
async function violations(frame) {
  await frame.evaluate(AXE);
  const { violations } = await frame.evaluate("axe.run(document)");
  return violations.flatMap((/** @type {any} */ { id, nodes }) =>
    nodes.map((/** @type {any} */ node) => `${id}: ${node.html} ${node.failureSummary}`),
  );
}

/**
 * Runs in the page: expands everything and scrolls to the end. Returns the longest task, the most rows in the page, and
 * how many rows were shown.
 * @param {number} requests
 */
async function scrollThrough(requests) {
  const tasks = /** @type {number[]} */ ([0]);
  const observer = new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration)));
  observer.observe({ type: "longtask" });
  const frame = () => new Promise((resolve) => requestAnimationFrame(() => resolve(undefined)));
  const tree = /** @type {HTMLElement} */ (document.querySelector('[role="tree"]'));
  /** @type {HTMLElement} */ (document.querySelector(".actions button")).click();
  await frame();
  await frame();
  let rows = 0;
  for (let top = 0; top < tree.scrollHeight; top += 1_500) {
    tree.scrollTop = top;
    await frame();
    await frame();
    rows = Math.max(rows, document.querySelectorAll('[role="treeitem"]').length);
  }
  const last = [...document.querySelectorAll('[role="treeitem"]')].at(-1);
  observer.disconnect();
  return { longest: Math.max(...tasks), rows, position: Number(last?.id.replace("row-", "")) + 1, requests };
}
