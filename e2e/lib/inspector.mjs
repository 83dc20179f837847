// The inspector's page in the side bar.
import { until } from "./until.mjs";

/**
 * Waits for the page and returns its frame. VS Code loads a webview in a second frame, which then replaces the first.
 * @param {any} page a workbench @param {string} [selector] what the page has to contain
 */
export async function inspector(page, selector = "#panel") {
  return until("the inspector is open", async () => {
    for (const frame of page.frames()) {
      const isOpen = await frame
        .locator(selector)
        .first()
        .isVisible()
        .catch(() => false);
      if (isOpen) return frame;
    }
    return undefined;
  });
}
