// Servers without a key: from nothing to the first answer, with one address and a few clicks, and addresses without encryption.
import assert from "node:assert/strict";
import os from "node:os";
import path from "node:path";
import { Chat } from "../lib/chat.mjs";
import { check, skip } from "../lib/report.mjs";
import { startTap } from "../lib/tap.mjs";
import { until } from "../lib/until.mjs";
import { finish, openWindow, startServer } from "../lib/vscode.mjs";

/** The most clicks from the installation to the first answer. */
const MOST_CLICKS = 5;

/** Returns an address of this machine in a private network. */
function privateAddress() {
  const all = Object.values(os.networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.map(({ address }) => address).find((address) => /^(10|192\.168|172\.(1[6-9]|2\d|3[01]))\.|^f[cd]/.test(address));
}

/** @param {import('../lib/setup.mjs').Setup} setup */
export async function local(setup) {
  let picture = 0;
  /** @param {any} page @returns {(name: string, body: () => unknown) => Promise<void>} */
  const steps = (page) => async (name, body) => {
    await check("local", name, body);
    picture += 1;
    await page.screenshot({ path: path.join(setup.shots, `${String(picture).padStart(2, "0")}-${name.replace(/\W+/g, "-")}.png`) });
  };
  await newUser(setup, steps);
  await groups(setup, steps);
}

/** @param {import('../lib/setup.mjs').Setup} setup @param {(page: any) => (name: string, body: () => unknown) => Promise<void>} steps */
async function newUser(setup, steps) {
  const ollama = await startTap(setup.imitated["ollama"] ?? "");
  const host = privateAddress();
  const nas = host === undefined ? undefined : await startTap(setup.imitated["llama.cpp"] ?? "", { host });
  const server = await startServer({ ...setup, folder: path.join(setup.work, "local") });
  const window = await openWindow(server, { ...setup, toasts: true });
  const { page } = window;
  const view = new Chat(page);
  const step = steps(page);
  const toast = (/** @type {string} */ text) => page.locator(".notification-toast", { hasText: text });
  const box = page.locator(".quick-input-widget input").first();
  let clicks = 0;
  const click = async (/** @type {any} */ button) => {
    clicks += 1;
    await button.click();
  };
  try {
    await step("a new user is offered a local server", async () => {
      await click(toast("Sluice is installed.").getByText("Use a Local Server", { exact: true }));
      await page.locator(".quick-input-widget", { hasText: "Type the address of a server" }).waitFor();
    });
    await step("its address is enough", async () => {
      // Without the scheme and without /v1, as people write it.
      await box.fill(ollama.origin.replace("http://", ""));
      await page.keyboard.press("Enter");
      await toast("New chats start with").waitFor();
    });
    await step("the first answer comes after few clicks", async () => {
      await click(toast("New chats start with").getByText("Start Chatting", { exact: true }));
      await view.open();
      const answer = await view.ask("Hello!");
      assert.ok(answer.length > 0);
      assert.doesNotMatch(answer, /failed|error|sign in/i);
      const turns = ollama.seen.filter(({ path, status }) => path === "/v1/responses" && status === 200);
      assert.ok(turns.length > 0, "the server got no request");
      assert.ok(
        ollama.seen.every(({ headers }) => headers.authorization === undefined),
        "a key was sent",
      );
      // The address that works is kept, so nobody is told to correct it.
      assert.deepEqual(
        ollama.seen.filter(({ path }) => path === "/responses"),
        [],
      );
      assert.equal(await toast("There is no Open Responses API").count(), 0);
      assert.ok(clicks <= MOST_CLICKS, `${clicks} clicks`);
      console.log(`   ${clicks} clicks and one address`);
    });
    await step("a second question continues the conversation", async () => {
      const before = ollama.seen.length;
      assert.ok((await view.ask("And again?")).length > 0);
      const turn = ollama.seen.slice(before).find(({ path, body }) => path === "/v1/responses" && body?.input?.length > 2);
      assert.ok(turn, "the first question is not in the second request");
    });
    if (nas === undefined) {
      skip("local", "an address without encryption is used after one question", "this machine has no address in a private network");
    } else {
      const question = page.locator(".monaco-dialog-box", { hasText: "Nothing is encrypted on the way to" });
      await step("an address without encryption is used only if the user agrees", async () => {
        await view.command("Notifications: Clear All Notifications");
        await view.command("Sluice: Use a Local Server");
        await box.fill(nas.url);
        await page.keyboard.press("Enter");
        await question.waitFor();
        await page.screenshot({ path: path.join(setup.shots, "unencrypted.png") });
        await question.getByRole("button", { name: "Cancel" }).click();
        await page.locator(".quick-input-widget", { hasText: "Nothing was sent." }).waitFor();
        assert.deepEqual(nas.seen, []);
      });
      await step("and after the user has agreed", async () => {
        await box.fill(nas.url);
        await page.keyboard.press("Enter");
        await question.getByRole("button", { name: "Use This Address" }).click();
        await toast("works;").waitFor();
        assert.ok(nas.seen.length > 0);
      });
    }
    await check("local", "the window contacts no other host", () => assert.deepEqual([...window.foreign], []));
  } finally {
    await finish(setup, server, window);
    ollama.close();
    nas?.close();
  }
}

/**
 * Groups in Manage Models without a key.
 * @param {import('../lib/setup.mjs').Setup} setup @param {(page: any) => (name: string, body: () => unknown) => Promise<void>} steps
 */
async function groups(setup, steps) {
  const host = privateAddress();
  const nas = host === undefined ? undefined : await startTap(setup.imitated["ollama"] ?? "", { host });
  const chatGroups = nas === undefined ? [] : [{ vendor: "sluice", name: "NAS", baseUrl: nas.url }];
  const server = await startServer({ ...setup, folder: path.join(setup.work, "groups"), chatGroups });
  const window = await openWindow(server, { ...setup, toasts: true });
  const step = steps(window.page);
  const toast = (/** @type {string} */ text) => window.page.locator(".notification-toast", { hasText: text });
  const asks = "Nothing is encrypted on the way to";
  try {
    if (nas !== undefined) {
      await step("a group without a key and without encryption waits for the user", async () => {
        await toast(asks).waitFor();
        assert.deepEqual(nas.seen, []);
      });
      await step("and lists its models once they have agreed", async () => {
        await toast(asks).getByText("Use This Address", { exact: true }).click();
        await until("the models are requested", () => nas.seen.some(({ path }) => path === "/v1/models"));
      });
    }
  } finally {
    await finish(setup, server, window);
    nas?.close();
  }
}
