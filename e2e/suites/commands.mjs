// Everything around the chat: the walkthrough, the commands in the palette, the validation of settings.
import assert from "node:assert/strict";
import path from "node:path";
import { Chat } from "../lib/chat.mjs";
import { check } from "../lib/report.mjs";
import { until } from "../lib/until.mjs";
import { openWindow, readSettings, startServer } from "../lib/vscode.mjs";

/** @param {import('../lib/setup.mjs').Setup} setup */
export async function commands(setup) {
  const server = await startServer({
    ...setup,
    folder: path.join(setup.work, "commands"),
    env: { SLUICE_BASE_URL: setup.gateway, SLUICE_API_KEY: setup.key },
    settings: { "sluice.models.hidden": ["open ai"] },
  });
  const window = await openWindow(server, { ...setup, toasts: true });
  const { page } = window;
  const view = new Chat(page);
  const settings = path.join(server.folder, "user/User/settings.json");
  const toast = (/** @type {string} */ text) => page.locator(".notification-toast", { hasText: text });
  const document = page.locator(".editor-instance .view-lines").first();
  /** VS Code renders spaces as non-breaking spaces. */
  const shown = async () => (await document.innerText()).replaceAll("\u00a0", " ");
  let picture = 0;
  const step = async (/** @type {string} */ name, /** @type {() => unknown} */ body) => {
    await check("commands", name, body);
    picture += 1;
    await page.screenshot({ path: path.join(setup.shots, `${picture}-${name.replace(/\W+/g, "-")}.png`) });
    await page.keyboard.press("Escape");
    await view.command("Notifications: Clear All Notifications");
  };
  try {
    // VS Code asks for the models when it starts, which activates the extension and its commands.
    await step("an invalid setting is reported", async () => {
      const said = toast("has white space in it");
      await said.waitFor();
      await said.getByText("Open the Setting").click();
      await page.locator(".settings-editor .setting-item", { hasText: "Models: Hidden" }).waitFor();
    });
    await step("the walkthrough shows its first step", async () => {
      // The picture needs space.
      await view.command("View: Close Primary Side Bar");
      await view.command("View: Toggle Secondary Side Bar Visibility");
      await view.command("Sluice: Open the Walkthrough");
      const steps = page.locator(".gettingStartedContainer .getting-started-step");
      await steps.filter({ hasText: "Chat right away, without a key" }).waitFor();
      assert.equal(await steps.count(), 8);
      await steps.filter({ hasText: "Or use a local server" }).waitFor();
      await steps.filter({ hasText: "Add your key" }).click();
      await page.locator(".getting-started-media").waitFor();
      // VS Code loads a webview in a second frame, `#pending-frame`, and then puts it in the place of the first.
      const picture = page.frameLocator("iframe.webview").frameLocator("#active-frame").locator("svg");
      await picture.getByText("https://ai-gateway.vercel.sh/v1").waitFor();
      await until("the picture has colours", async () => {
        const colours = await picture
          .locator("rect")
          .evaluateAll((/** @type {Element[]} */ shapes) => shapes.map((shape) => getComputedStyle(shape).fill));
        return new Set(colours).size > 3 && !colours.includes("rgb(0, 0, 0)");
      });
    });
    await step("a working connection passes the test", async () => {
      await view.command("Sluice: Test the Connection");
      const said = toast('Sluice: The connection "Environment" works.');
      await said.waitFor();
      const card = page.frameLocator("iframe.webview").frameLocator("#active-frame").locator("body");
      await card.locator("tr", { hasText: "Errors" }).waitFor();
      for (const name of ["Address", "Models", "Key", "Answer", "Streaming", "Tool calls", "Cancelling"]) {
        assert.match(await card.locator("tr", { has: page.locator(`th:text-is("${name}")`) }).innerText(), /^✓/);
      }
    });
    await step("a default model is chosen", async () => {
      await view.command("Sluice: Choose the Default Model");
      await page.locator(".quick-input-list .monaco-list-row", { hasText: "sluice/reasoning" }).first().click();
      await until("it is in the settings", () => readSettings(settings)["sluice.models.default"] === "sluice/reasoning");
    });
    await step("the models are refreshed", async () => {
      await view.command("Sluice: Refresh the Models");
      await toast("models can chat.").waitFor();
    });
    await step("a report does not contain the key", async () => {
      await view.command("Sluice: Export a Redacted Report");
      await until("the report is shown", async () => /"sluice": /.test(await shown()));
      assert(!(await shown()).includes(setup.key));
    });
    await step("a sign-in without the CLI says what is missing", async () => {
      await view.command("Sluice: Sign in with the Vercel CLI");
      await toast("The Vercel CLI is not installed on this machine").waitFor();
    });
  } finally {
    await window.close();
    await server.stop();
  }
}
