// Text that VS Code shows and that may come from a server. The core makes it safe to show (link_free.rs).

import type { Requests } from "../../packages/loader/src/requests.js";

/** The core, once its module is loaded. */
export let core: Requests | undefined;

/** Lets the core change texts from now on. Before its module is loaded no server is asked, so there is none of their text. */
export function useCore(requests: Requests): void {
  core = requests;
}

/** Returns one line that looks the same but in which nothing can be clicked. */
export function linkFree(text: string): string {
  return core?.linkFree(text) ?? text;
}
