// The Chat view as a person uses it: with the mouse and the keyboard, and by what is on the screen. The selectors
// belong to the VS Code version that e2e/package.json pins.
import { AGAIN_MS, until } from "./until.mjs";

// Rows are added and removed while scrolling, in any order; only this attribute identifies the last one.
const LAST = '.interactive-list .monaco-list-row[data-last-element="true"]';

export class Chat {
  /** @param {any} page a workbench */
  constructor(page) {
    this.page = page;
    this.input = page.locator(".interactive-input-part .monaco-editor").first();
    this.toolbar = page.locator(".chat-input-toolbars").first();
    this.last = page.locator(`${LAST} .interactive-response`);
  }

  /** Waits for the view and makes it wide enough to read. */
  async open() {
    await this.input.waitFor();
    const { x, y, height } = await this.page.locator(".part.auxiliarybar").boundingBox();
    await this.page.mouse.move(x - 3, y + height / 2);
    await this.page.mouse.down();
    await this.page.mouse.move(x - 300, y + height / 2, { steps: 4 });
    await this.page.mouse.up();
  }

  /** Runs a command by its title. @param {string} title */
  async command(title) {
    const box = this.page.locator(".quick-input-widget input").first();
    // Other titles may start with this one.
    const row = this.page
      .locator(`.quick-input-list .monaco-list-row[aria-label="${title}"], .quick-input-list .monaco-list-row[aria-label^="${title},"]`)
      .first();
    // The list is created when it opens, perhaps before the command is registered. An editor that opens at that
    // moment closes it.
    await until(`there is a command ${title}`, async () => {
      await this.page.keyboard.press("F1");
      try {
        await box.fill(`>${title}`, { timeout: AGAIN_MS });
        await row.click({ timeout: AGAIN_MS });
        return true;
      } catch {
        await this.page.keyboard.press("Escape");
        return false;
      }
    });
  }

  /**
   * Enters a key in VS Code's own dialogs.
   * @param {string} key @param {string} baseUrl
   */
  async enterKey(key, baseUrl) {
    await this.inPicker("Manage Models");
    await this.addModels(key, baseUrl);
  }

  /**
   * Enters a key on the page with the list of models.
   * @param {string} key @param {string} baseUrl
   */
  async addModels(key, baseUrl) {
    const vendor = this.page.locator(".context-view, .monaco-menu").getByText("Sluice", { exact: true }).first();
    const name = this.page.locator('.quick-input-widget input[placeholder="Enter a name for the group"]');
    // A menu ignores clicks just after it opens.
    await until("the name of the group is asked for", async () => {
      if (!(await vendor.isVisible())) await this.page.getByText("Add Models").first().click();
      try {
        await vendor.click({ timeout: AGAIN_MS });
        await name.waitFor({ timeout: AGAIN_MS });
        return true;
      } catch {
        return false;
      }
    });
    await this.answer("Enter a name for the group", "Sluice");
    await this.answer("Enter value for apiKey", key);
    await this.answer("Enter value for baseUrl", baseUrl);
  }

  /** Closes the page with the list of models, which covers everything else. */
  async closeModels() {
    await until("the page is closed", async () => {
      await this.page.keyboard.press("Escape");
      return (await this.page.locator(".monaco-modal-editor-block").count()) === 0;
    });
  }

  /**
   * Fills in one of VS Code's input boxes, which is identified by its placeholder.
   * @param {string} placeholder @param {string} text
   */
  async answer(placeholder, text) {
    const box = this.page.locator(`.quick-input-widget input[placeholder="${placeholder}"]`);
    await box.fill(text);
    await box.press("Enter");
  }

  /** Chooses a model by its name in the picker below the input. @param {string} name */
  async pick(name) {
    const picker = this.toolbar.locator(".model-picker-name");
    // VS Code may put its own choice back while the list of models still grows.
    await until(`${name} is chosen`, async () => {
      await this.inPicker(name);
      // In a narrow view, the thinking effort replaces the name.
      return (await picker.getAttribute("aria-label"))?.includes(name);
    });
  }

  /** Chooses a thinking effort for the current model, next to its name. @param {string} label */
  async chooseEffort(label) {
    const button = this.toolbar.locator(".model-picker-config");
    const row = this.page.locator(".action-widget .chat-model-picker-config-option", { hasText: label }).first();
    await until(`the effort ${label} is chosen`, async () => {
      try {
        if (!(await row.isVisible())) await button.click({ timeout: AGAIN_MS });
        await row.click({ timeout: AGAIN_MS });
        return (await button.innerText()).includes(label);
      } catch {
        return false;
      } finally {
        await this.page.keyboard.press("Escape");
      }
    });
  }

  /** Clicks on a row of the model picker. @param {string} text */
  async inPicker(text) {
    const picker = this.toolbar.locator(".model-picker-name");
    const list = this.page.locator(".action-widget:has(.chat-model-picker-dropdown)").first();
    const row = list.locator(".monaco-list-row", { hasText: text }).first();
    await picker.waitFor();
    // VS Code may ignore a click, and closes the list if something else takes the focus.
    await until(`${text} is offered`, async () => {
      try {
        await picker.click({ timeout: AGAIN_MS });
        await list.waitFor({ timeout: AGAIN_MS });
        // Models that were never used are collapsed; the search box finds them. It appears with the first of our
        // models.
        const search = list.locator("input");
        if (await search.count()) await search.fill(text, { timeout: AGAIN_MS });
        const offered = (await row.count()) > 0;
        await (offered ? row.click({ timeout: AGAIN_MS }) : this.page.keyboard.press("Escape"));
        await list.waitFor({ state: "hidden", timeout: AGAIN_MS });
        return offered;
      } catch {
        await this.page.keyboard.press("Escape");
        return false;
      }
    });
  }

  /** Types a question, sends it and waits for the answer to end. @param {string} question @returns {Promise<string>} */
  async ask(question) {
    await this.send(question);
    return until("the answer ends", async () => {
      const isOver = !(await this.streaming());
      const text = await this.last.innerText();
      return isOver && text.trim() !== "" && text;
    });
  }

  /** Types a question, sends it and waits for the answer to begin. Keep it short: the input is slow. @param {string} question */
  async send(question) {
    const before = await this.length();
    await this.input.click();
    await this.page.keyboard.insertText(question);
    await this.page.keyboard.press("Enter");
    await until("the question is sent", async () => (await this.length()) > before);
    await this.last.waitFor();
  }

  /** Opens the thinking of the last answer and returns its paragraphs. */
  async thinking() {
    const box = this.last.locator(".chat-thinking-box").first();
    const text = box.locator(".chat-thinking-item");
    // An answer that is over hides its steps, and each step its text.
    const closed = [this.last.locator(".completed-response-summary"), box.locator(".monaco-button")];
    await until("the thinking is open", async () => {
      if ((await text.count()) > 0 && (await text.first().isVisible())) return true;
      for (const button of closed.map((one) => one.and(this.page.locator('[aria-expanded="false"]')).first())) {
        if (await button.isVisible()) await button.click({ timeout: AGAIN_MS }).catch(() => undefined);
      }
      return false;
    });
    const lines = (await text.allInnerTexts()).join("\n").split("\n");
    return lines.map((/** @type {string} */ line) => line.trim()).filter((/** @type {string} */ line) => line !== "");
  }

  /** Returns the number of questions and answers. */
  async length() {
    // This is a single query, because the row may vanish between two.
    const indexes = await this.page
      .locator(LAST)
      .evaluateAll((/** @type {Element[]} */ rows) => rows.map((row) => row.getAttribute("data-index")));
    return indexes.length ? Number(indexes[0]) + 1 : 0;
  }

  async streaming() {
    return (await this.page.locator(`${LAST} .chat-response-loading`).count()) > 0;
  }

  /** Presses the button that stops an answer. */
  async stop() {
    await this.page.locator('.chat-execute-toolbar .codicon-stop-circle, .chat-execute-toolbar [class*="codicon-stop"]').first().click();
    await until("the answer has stopped", async () => !(await this.streaming()));
  }

  /**
   * Waits until the ring next to the input shows how much of the context window is used: "19.6K / 200K tokens".
   * @param {string} expected
   */
  async showsUsage(expected) {
    const details = this.page.locator(".chat-context-usage-details").first();
    await this.page.locator(".chat-context-usage-widget").first().click();
    await details.waitFor();
    // It may open before the last answer's count has arrived.
    let shown = "";
    const right = await until("it is right", async () =>
      (shown = await details.locator(".quota-label").first().innerText()).startsWith(expected),
    ).catch(() => false);
    if (!right) throw new Error(`VS Code shows ${JSON.stringify(shown)} instead of ${expected}`);
    await this.page.keyboard.press("Escape");
    await details.waitFor({ state: "hidden" });
  }

  /** Returns the percentage of the context window that the ring next to the input shows. */
  async ringPercentage() {
    const details = this.page.locator(".chat-context-usage-details").first();
    await this.page.locator(".chat-context-usage-widget").first().click();
    await details.waitFor();
    const shown = await until("a percentage is shown", async () => /(\d+)\s*%/.exec(await details.innerText())?.[1]);
    await this.page.keyboard.press("Escape");
    await details.waitFor({ state: "hidden" });
    return Number(shown);
  }

  /** Starts a new conversation, perhaps with another model. */
  async startAfresh() {
    await this.page.locator('.part.auxiliarybar .codicon-plus[aria-label^="New Chat"]:visible').first().click();
    await until("the conversation is empty", async () => (await this.length()) === 0);
  }
}
