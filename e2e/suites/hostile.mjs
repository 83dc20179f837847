// A server that puts links into all its texts. Nothing of that may be clickable in any place where the extension shows
// it, or VS Code shows it on the extension's behalf.
import assert from "node:assert/strict";
import path from "node:path";
import { Chat } from "../lib/chat.mjs";
import { COMMAND, MESSAGES, startHostile, TARGET, watchForLinks } from "../lib/hostile.mjs";
import { inspector } from "../lib/inspector.mjs";
import { check } from "../lib/report.mjs";
import { AGAIN_MS, until } from "../lib/until.mjs";
import { finish, openWindow, startServer } from "../lib/vscode.mjs";

/** The number of rows of a list that are hovered over. */
const ROWS = 8;

/** @param {import('../lib/setup.mjs').Setup} setup */
export async function hostile(setup) {
  const gateway = await startHostile();
  const { behaviour } = gateway;
  const server = await startServer({
    ...setup,
    folder: path.join(setup.work, "hostile"),
    env: { SLUICE_BASE_URL: `${gateway.origin}/v1`, SLUICE_API_KEY: setup.key },
    settings: { "sluice.models.hidden": [`[click](${COMMAND}) open ai`] },
  });
  const window = await openWindow(server, { ...setup, toasts: true, prepare: (page) => page.addInitScript(watchForLinks, TARGET) });
  const { page } = window;
  const view = new Chat(page);
  const hover = page.locator(".monaco-hover:visible, .chat-model-hover:visible");
  const quickPick = page.locator(".quick-input-list .monaco-list-row");

  /**
   * Waits for a notification with the server's text and checks that it has no links.
   * @param {string} text
   */
  const toastWithoutLinks = async (text) => {
    const toast = page.locator(".notification-toast", { hasText: text }).first();
    await toast.waitFor();
    assert.match(await toast.innerText(), /click|squirrel/i);
    assert.deepEqual(
      await toast.locator("a[href], [data-href]").evaluateAll((/** @type {Element[]} */ links) => links.map((link) => link.outerHTML)),
      [],
    );
  };
  /**
   * Hovers over an element until a hover with the text appears.
   * @param {any} element @param {string} text @param {object} [where]
   */
  const hoverOver = async (element, text, where) => {
    await until(`there is a hover with ${text}`, async () => {
      await element.hover(where);
      return hover
        .filter({ hasText: text })
        .first()
        .waitFor({ timeout: AGAIN_MS })
        .then(
          () => true,
          () => page.mouse.move(1, 1),
        );
    });
  };
  /** A position in the column with the names. */
  const name = { position: { x: 120, y: 8 } };
  /**
   * Hovers over some of the models in a list, each identified by the beginning of its name.
   * @param {any} rows
   */
  const hoverOverModels = async (rows) => {
    await rows.first().waitFor();
    for (const row of (await rows.all()).slice(0, ROWS)) await hoverOver(row, /Hostile \d+ /.exec(await row.innerText())?.[0] ?? "", name);
  };
  let picture = 0;
  /** @param {string} name @param {() => unknown} body */
  const step = async (name, body) => {
    await check("hostile", name, async () => {
      try {
        await body();
      } finally {
        picture += 1;
        await page.screenshot({ path: path.join(setup.shots, `${String(picture).padStart(2, "0")}-${name.replace(/\W+/g, "-")}.png`) });
      }
      // This includes links that have already vanished.
      const links = await page.evaluate("[...hostileLinks.values()]");
      await page.evaluate("hostileLinks.clear()");
      assert.deepEqual(links, []);
    });
    behaviour.now = {};
    await page.mouse.move(1, 1);
    await page.keyboard.press("Escape");
    await view.command("Notifications: Clear All Notifications");
  };

  try {
    await step("the check of the settings", () => toastWithoutLinks("has white space in it"));
    for (const [index, message] of MESSAGES.entries()) {
      await step(`refreshing the models, message ${index + 1}`, async () => {
        behaviour.now = { list: message };
        await view.command("Sluice: Refresh the Models");
        await toastWithoutLinks("Environment: ");
      });
    }
    for (const failing of ["list", "credits", "answer", "stream"]) {
      await step(`testing the connection, ${failing} fails`, async () => {
        behaviour.now = { [failing]: MESSAGES[0] };
        await view.command("Sluice: Test the Connection");
        await toastWithoutLinks({ list: "Sluice: Models: ", credits: "Sluice: Key: " }[failing] ?? "Sluice: Answer: ");
      });
    }
    await step("testing the connection, the server is busy at first", async () => {
      behaviour.now = { busy: MESSAGES[0] };
      await view.command("Sluice: Test the Connection");
      await toastWithoutLinks("click");
      behaviour.now = {};
      // A success is announced in our own words alone; the server's text is in the card.
      await page.locator(".notification-toast", { hasText: 'Sluice: The connection "Environment" works.' }).first().waitFor();
    });
    await step("choosing the default model", async () => {
      await view.command("Sluice: Choose the Default Model");
      await quickPick.filter({ hasText: "Hostile" }).first().waitFor();
      for (let at = 0; at < 3; at++) await page.keyboard.press("PageDown");
    });
    await step("the model picker", async () => {
      await view.open();
      await page.locator(".model-picker-name").first().click();
      const list = page.locator(".action-widget:has(.chat-model-picker-dropdown)").first();
      await until("there are models", async () => {
        await list.locator("input").fill("Hostile");
        return list.locator(".monaco-list-row", { hasText: "Hostile" }).count();
      });
      await hoverOverModels(list.locator(".monaco-list-row", { hasText: "Hostile" }));
      await page.keyboard.press("Escape");
    });
    await step("the list of models, with a group that has none", async () => {
      await view.command("Chat: Manage Language Models");
      await view.addModels("key-of-a-group", `${gateway.origin}/broken/v1`);
      const row = page.locator(".monaco-modal-editor-block .monaco-list-row");
      await hoverOverModels(row.filter({ hasText: "Hostile" }));
      // The group shows the reason in place of its models.
      const reason = row.filter({ hasText: "click", hasNotText: "Hostile" }).first();
      await hoverOver(reason, "click", name);
    });
    await step("choosing among connections", async () => {
      await view.closeModels();
      await view.command("Sluice: Test the Connection");
      await quickPick.filter({ hasText: "Environment" }).first().waitFor();
    });
    await step("the chat, while the server is busy", async () => {
      await view.pick("Hostile 0");
      behaviour.now = { busy: MESSAGES[0] };
      await view.send("Hello?");
      const status = page.locator(".statusbar-item", { hasText: "Sluice: trying again in" }).first();
      await status.waitFor();
      await hoverOver(status, "click");
      await page.screenshot({ path: path.join(setup.shots, "busy.png") });
      behaviour.now = {};
      await view.last.getByText("Yes.").first().waitFor();
    });
    for (const [index, message] of MESSAGES.entries()) {
      await step(`the chat, error ${index + 1}`, async () => {
        behaviour.now = index % 2 ? { stream: message } : { answer: message };
        const answer = await view.ask(`Hello ${index}?`);
        assert.match(answer, /click|squirrel/i);
        assert.deepEqual(await view.last.locator(`a:has-text("click"), a:has-text("${TARGET}")`).count(), 0);
        if (index === 0) assert.ok(answer.replaceAll("\u2060", "").includes(`[click](${COMMAND})`), answer);
      });
    }
    await step("the usage", async () => {
      await view.command("Sluice: Show Usage");
      const usage = await inspector(page, "table");
      await usage.locator("td", { hasText: "hostile/0" }).first().waitFor();
      assert.equal(await usage.locator("a").count(), 0);
    });
    await check("hostile", "the window never contacts the target", () => assert.deepEqual([...window.foreign], []));
  } finally {
    await finish(setup, server, window);
    gateway.close();
  }
}
