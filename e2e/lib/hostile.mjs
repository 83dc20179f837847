// A gateway that puts links into all its texts: names of models, errors, notes. Whatever VS Code makes of them can be
// recognized by the host that they lead to.
import http from "node:http";

/** Occurs in the target of every link. */
export const TARGET = "evil.example";

export const COMMAND = `command:workbench.action.files.newUntitledFile?%22${TARGET}%22`;

/** Every notation of a link that some part of VS Code understands. */
export const SPELLINGS = [
  `[click](${COMMAND})`,
  `[click](${COMMAND} "https://vercel.com/login")`,
  `[CLICK](COMMAND:workbench.action.quit?${TARGET} 'title')`,
  `[click](https://${TARGET}/login)`,
  `[click](file:///${TARGET})`,
  `![click](https://${TARGET}/picture.png)`,
  `[[click]](${COMMAND})`,
  `[cl\u200bick]\u200b(${COMMAND})`,
  `[click]\u0000(${COMMAND})`,
  `[click]\n(${COMMAND})`,
  `\\[click](${COMMAND})`,
  `[click][1] [1]: https://${TARGET}`,
  `<https://${TARGET}/a>`,
  `<${COMMAND}>`,
  `<click@${TARGET}>`,
  `<a href="https://${TARGET}/b">click</a>`,
  `<img src="https://${TARGET}/c.png">`,
  `&lt;https://${TARGET}&gt; &#91;click&#93;&#40;${COMMAND}&#41;`,
  `HTTPS://${TARGET}/d`,
  `http://${TARGET}/e`,
  `www.${TARGET}/f`,
  `click@${TARGET}`,
  `mailto:click@${TARGET}`,
  `$(squirrel) \`code\` $(squirrel~spin)`,
];

/** The notations, combined into messages that are as long as an error may be. */
export const MESSAGES = SPELLINGS.reduce((/** @type {string[]} */ messages, spelling) => {
  const last = messages.at(-1);
  if (last !== undefined && last.length + spelling.length < 420) messages[messages.length - 1] = `${last} ${spelling}`;
  else messages.push(spelling);
  return messages;
}, []);

/** Models whose ids and names contain links. */
const MODELS = SPELLINGS.map((spelling, index) => ({
  id: `hostile/${index}${spelling}`,
  object: "model",
  name: `Hostile ${index} ${spelling}`,
  description: spelling,
  type: "language",
  tags: ["tool-use"],
  context_window: 128_000,
  max_tokens: 16_384,
}));

/**
 * @typedef {object} Behaviour how it responds to each kind of request: normally, or with this message
 * @property {string} [list]
 * @property {string} [credits]
 * @property {string} [answer] an HTTP error
 * @property {string} [stream] an error in the middle of a stream
 * @property {string} [busy] "try again later", until the test resets it
 */

export async function startHostile() {
  /** @type {{ now: Behaviour }} */
  const behaviour = { now: {} };
  const server = http.createServer(async (request, response) => {
    await request.resume().toArray();
    const { list, credits, answer, stream, busy } = behaviour.now;
    const json = (/** @type {number} */ status, /** @type {unknown} */ body) => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    const failure = (/** @type {number} */ status, /** @type {string} */ message) =>
      json(status, { error: { message, type: message, code: message } });
    if (request.url?.startsWith("/broken/")) return failure(400, MESSAGES[0]);
    if (request.url === "/v1/models") return list === undefined ? json(200, { object: "list", data: MODELS }) : failure(400, list);
    if (request.url === "/v1/credits")
      return credits === undefined ? json(200, { balance: "[a](command:b)", total_used: "0" }) : failure(401, credits);
    if (request.url !== "/v1/responses") return failure(404, MESSAGES[0]);
    if (busy !== undefined) {
      response.setHeader("retry-after", "5");
      return failure(429, busy);
    }
    if (answer !== undefined) return failure(400, answer);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const event = (/** @type {Record<string, unknown>} */ data) => response.write(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);
    const output = [
      {
        type: "message",
        id: "m",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "Yes.", annotations: [] }],
      },
    ];
    const usage = { input_tokens: 10, output_tokens: 2, total_tokens: 12 };
    if (stream !== undefined) {
      event({
        type: "response.failed",
        response: { id: "r", status: "failed", error: { code: "invalid_prompt", message: stream }, output: [] },
      });
    } else {
      event({ type: "response.output_item.added", output_index: 0, item: { ...output[0], status: "in_progress", content: [] } });
      event({ type: "response.output_text.delta", output_index: 0, content_index: 0, item_id: "m", delta: "Yes." });
      event({ type: "response.completed", response: { id: "r", status: "completed", output, usage } });
    }
    response.end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { origin: `http://127.0.0.1:${port}`, behaviour, close };
}

/**
 * Runs in the browser before anything else: records every link to the target that ever appears on the page.
 * @param {string} target
 */
export function watchForLinks(target) {
  /** @type {Set<string>} */
  const found = new Set();
  Object.assign(globalThis, { hostileLinks: found });
  const look = (/** @type {Element} */ element) => {
    for (const one of [element, ...element.querySelectorAll("[href], [data-href], [src], [data-src], .codicon-squirrel")]) {
      const values = ["href", "data-href", "src", "data-src"].map((name) => one.getAttribute(name) ?? "");
      if (values.some((value) => value.toLowerCase().includes(target))) {
        const place = one.closest(
          ".notification-toast, .notifications-center, .quick-input-widget, .monaco-hover, .interactive-response, .monaco-dialog-box, .action-widget, .statusbar",
        );
        found.add(`${place?.className ?? "elsewhere"}: ${one.outerHTML.slice(0, 300)}`);
      }
      // An icon that the server has chosen.
      if (one.classList.contains("codicon-squirrel")) found.add(`icon: ${one.parentElement?.textContent?.slice(0, 300)}`);
    }
  };
  new MutationObserver((changes) => {
    for (const { type, target: changed, addedNodes } of changes) {
      if (type === "attributes") look(/** @type {Element} */ (changed));
      for (const node of addedNodes) if (node instanceof Element) look(node);
    }
  }).observe(document, {
    subtree: true,
    childList: true,
    attributes: true,
    attributeFilter: ["href", "data-href", "src", "data-src", "class"],
  });
}
