// A new user: from installing Sluice to the first answer with their own key, and what they see if something fails.
import assert from "node:assert/strict";
import path from "node:path";
import { Chat } from "../lib/chat.mjs";
import { check } from "../lib/report.mjs";
import { startTap } from "../lib/tap.mjs";
import { AGAIN_MS, until } from "../lib/until.mjs";
import { finish, openWindow, readSettings, startServer } from "../lib/vscode.mjs";

/** The most clicks from the installation to the first answer. */
const MOST_CLICKS = 6;

/** @type {[name: string, fault: string, happened: RegExp, next: RegExp][]} the model's name, its fault, and what the chat says about it */
const FAILURES = [
  ["Wrong key", "demo+status=401", /Authentication failed/, /"Sluice: Add or Change a Key" in the command palette/],
  ["No credit", "demo+status=402", /The balance is used up/, /Add credit or raise the budget/],
  ["Forbidden", "demo+status=403", /This is not allowed/, /Ask for access, or choose another model/],
  ["Unknown model", "demo+status=404+error-body=code", /Not found/, /Choose another model|Check the base URL/],
  ["Bad request", "demo+status=400", /The request is not valid/, /Check the settings for this model/],
  ["Busy", "demo+retry-after=86400", /Too many requests/, /wait 24 hours.*Try again after that/s],
  ["Web page", "demo+html-200", /web page with the title/, /Check the base URL/],
  ["Down", "demo+status=500", /The service has failed/, /Try again later or choose another model/],
  ["Bad gateway", "demo+status=502+error-body=html", /The server has a problem/, /Try again later or choose another model/],
  ["Redirected", "demo+redirect", /redirects to another address/, /Set the base URL to the final address/],
  ["Cut off", "long+pace=0+early-eof=2000", /broke before the answer was complete/, /Try again/],
  ["Fails halfway", "demo+pace=0+failed", /has failed, as it was asked to/, /Try again/],
  ["Empty", "empty+pace=0", /sent an empty answer/, /Ask again, or choose another model/],
  ["Thinking only", "thinking-only+pace=0", /thought and then said nothing/, /Ask again, lower the thinking effort/],
  ["Filtered", "content-filter+pace=0", /content filter cut the answer off/, /Rephrase the question or choose another model/],
];
/** A model that the demo in the extension doesn't have, so that its requests can only come from the user's own key. */
const OWN = { id: "sluice/demo+pace=0", like: "sluice/demo", name: "Own model" };
const LENGTH = { id: "sluice/incomplete+pace=0", like: "sluice/demo", name: "Too long" };

/** @param {import('../lib/setup.mjs').Setup} setup */
export async function start(setup) {
  const models = FAILURES.map(([name, fault]) => ({ id: `sluice/${fault}`, like: "sluice/demo", name }));
  const tap = await startTap(setup.gateway, { models: [...models, OWN, LENGTH] });
  const server = await startServer({
    ...setup,
    folder: path.join(setup.work, "start"),
    settings: { "sluice.baseUrl": tap.url, "sluice.models.default": OWN.id },
  });
  const window = await openWindow(server, { ...setup, toasts: true });
  const { page } = window;
  const view = new Chat(page);
  const toast = (/** @type {string} */ text) => page.locator(".notification-toast", { hasText: text });
  const settings = path.join(server.folder, "user/User/settings.json");
  /** Clicks on a button of a notification. @param {string} text @param {string} button */
  const press = (text, button) => toast(text).getByText(button, { exact: true }).click();
  let picture = 0;
  const step = async (/** @type {string} */ name, /** @type {() => unknown} */ body) => {
    await check("start", name, body);
    picture += 1;
    await page.screenshot({ path: path.join(setup.shots, `${String(picture).padStart(2, "0")}-${name.replace(/\W+/g, "-")}.png`) });
  };
  const box = page.locator(".quick-input-widget input").first();
  try {
    await view.open();
    // From now on, every click counts.
    await page.evaluate(() => {
      Object.assign(globalThis, { clicks: 0 });
      addEventListener("mousedown", () => /** @type {any} */ (globalThis).clicks++, true);
    });
    await step("a new user is greeted with the next step", () => toast("Sluice is installed.").waitFor());
    await step("a wrong key is refused before it is kept", async () => {
      await press("Sluice is installed.", "Add a Key");
      await box.waitFor();
      await box.fill("sk-wrong");
      await page.keyboard.press("Enter");
      await page.locator(".quick-input-widget", { hasText: "Enter a valid API key." }).waitFor();
    });
    await step("a key is pasted and checked", async () => {
      await box.fill(setup.key);
      await page.keyboard.press("Enter");
      await toast("New chats start with").waitFor();
      await until("it is in the settings", () => readSettings(settings)["chat.defaultModel"] === OWN.id);
    });
    await step("the first answer comes after few clicks", async () => {
      await press("New chats start with", "Start Chatting");
      const isTurn = (/** @type {import('../lib/tap.mjs').Seen} */ { body }) => body?.tools?.length > 0 && body.model === OWN.id;
      const answer = await view.ask("Hello!");
      assert.ok(answer.length > 0);
      await until("the request has arrived", () => tap.seen.some(isTurn));
      const request = tap.seen.find(isTurn);
      assert.equal(request?.headers.authorization, `Bearer ${setup.key}`);
      const clicks = await page.evaluate(() => /** @type {any} */ (globalThis).clicks);
      assert.ok(clicks > 0 && clicks <= MOST_CLICKS, `${clicks} clicks`);
      console.log(`   ${clicks} clicks and one paste`);
    });
    await step("the demo is no longer offered", async () => {
      const picker = view.toolbar.locator(".model-picker-name");
      await picker.click();
      const list = page.locator(".action-widget:has(.chat-model-picker-dropdown)").first();
      await list.waitFor();
      assert.doesNotMatch(await list.innerText(), /demo, not a real model/);
      await page.screenshot({ path: path.join(setup.shots, "picker.png") });
      const row = list.locator(".monaco-list-row", { hasText: OWN.name }).first();
      await row.hover();
      await page
        .locator(".chat-model-hover:visible, .monaco-hover:visible")
        .first()
        .waitFor({ timeout: AGAIN_MS * 3 });
      await page.screenshot({ path: path.join(setup.shots, "picker-hover.png") });
      await page.keyboard.press("Escape");
    });
    for (const [name, , happened, next] of FAILURES) {
      await step(`failure: ${name}`, async () => {
        await view.command("Notifications: Clear All Notifications");
        await view.startAfresh();
        await view.pick(name);
        const answer = await view.ask("Hello?");
        assert.match(answer, happened);
        assert.match(answer, next);
        assert.doesNotMatch(answer, /\.js:\d|at async|undefined|\{\d\}/, "something internal is shown");
        if (name === "Wrong key") await toast("Authentication failed").getByText("Change the Key", { exact: true }).waitFor();
      });
    }
    await step("a key can be changed", async () => {
      await view.startAfresh();
      await view.command("Notifications: Clear All Notifications");
      await view.command("Sluice: Add or Change a Key");
      await page.locator(".quick-input-list .monaco-list-row", { hasText: "127.0.0.1" }).first().click();
      await page.locator(".quick-input-list .monaco-list-row", { hasText: "Change the Key" }).first().click();
      await box.fill(setup.key);
      await page.keyboard.press("Enter");
      await toast("New chats start with").waitFor();
    });
    await step("an answer that reached its limit has a note and no error", async () => {
      await view.command("Notifications: Clear All Notifications");
      await view.startAfresh();
      await view.pick(LENGTH.name);
      const answer = await view.ask("Hello?");
      assert.match(answer, /reached the model's output limit and is cut off here\. Say "go on" to continue\./);
      assert.doesNotMatch(answer, /your request failed/i);
      await view.ask("go on");
      const last = tap.seen.filter((seen) => seen.body?.model === LENGTH.id && seen.body.tools?.length).at(-1);
      assert.doesNotMatch(JSON.stringify(last?.body.input), /output limit/, "the note was sent to the model");
    });
    await step("one command sets VS Code's own models, and resets them", async () => {
      await view.command("Sluice: Choose Models for VS Code's Own Jobs");
      await page.locator(".quick-input-list .monaco-list-row", { hasText: "Use Sluice for all of them" }).first().click();
      const utility = () => readSettings(settings)["chat.utilityModel"];
      await until("they are set", () => String(utility()).startsWith("sluice/"));
      await view.startAfresh();
      const before = tap.seen.length;
      await view.pick("Sluice Demo");
      await view.ask("What is a lock gate?");
      const title = await until("the title is written by the utility model", () =>
        tap.seen.slice(before).find((seen) => seen.path === "/v1/responses" && !seen.body?.tools?.length),
      );
      assert.equal(title.body.reasoning?.summary, undefined, "a title needs no thinking");
      await view.command("Sluice: Choose Models for VS Code's Own Jobs");
      await page.screenshot({ path: path.join(setup.shots, "jobs.png") });
      await page.locator(".quick-input-list .monaco-list-row", { hasText: "Leave all of them to VS Code" }).first().click();
      await until("they are reset", () => utility() === undefined);
    });
    await step("a model is changed by form", async () => {
      await view.command("Sluice: Change a Model");
      await page.locator(".quick-input-list .monaco-list-row", { hasText: "sluice/echo" }).first().click();
      await page.locator(".quick-input-list .monaco-list-row", { hasText: "Maximum output tokens" }).first().click();
      await box.fill("1234");
      await page.keyboard.press("Enter");
      await until("it is in the settings", () => {
        const overrides = readSettings(settings)["sluice.models.overrides"];
        return overrides?.["sluice/echo"]?.maxOutputTokens === 1234;
      });
      await page.keyboard.press("Escape");
    });
    await check("start", "the window contacts no other host", () => assert.deepEqual([...window.foreign], []));
  } finally {
    await finish(setup, server, window);
    tap.close();
  }
}
