// Neither the log nor the report contains anything private, whatever a server says. In each scenario, a server quotes
// everything it knows: what the user wrote, the key, and the value of an extra header.

import assert from "node:assert/strict";
import { test } from "node:test";

import { KEY, keyed, start, streamed } from "./harness.js";
import { fake } from "./vscode.js";

const PROMPT = "prompt_canary";
const HEADER = "header-canary-value";
/** A server may quote a secret in another spelling. */
const spellings = (secret: string): string[] => [
  secret,
  secret.toUpperCase(),
  Buffer.from(secret).toString("base64"),
  Buffer.from(secret).toString("hex"),
  secret.replaceAll("-", "%2D"),
];
const SECRETS = [KEY, HEADER].flatMap(spellings);
const QUOTE = `You wrote ${PROMPT} (${PROMPT}) with ${SECRETS.join(" and ")}.`;
const QUOTING_HEADERS = { "x-request-id": PROMPT, "x-vercel-id": `${KEY}:${HEADER}`, "retry-after-ms": "1" };

const error = (status: number, code: string = PROMPT): Response =>
  Response.json({ error: { message: QUOTE, code, type: PROMPT, param: PROMPT } }, { status, headers: QUOTING_HEADERS });
const created = { type: "response.created", response: { id: PROMPT, model: PROMPT } };
const delta = { type: "response.output_text.delta", item_id: PROMPT, output_index: 0, content_index: 0, delta: "Hello" };
const completed = { type: "response.completed", response: { id: PROMPT, status: "completed", output: [] } };
const at = (path: string, answer: () => Response | Error) => (url: string) => (url.endsWith(path) ? answer() : undefined);
const answers = (answer: () => Response | Error) => at("/responses", answer);

const scenarios: { readonly [name: string]: (url: string) => Response | Error | undefined } = {
  "busy, until there is no sense in asking again": answers(() => error(503)),
  "busy with a known code": answers(() => error(429, "rate_limit_exceeded")),
  refused: answers(() => error(400)),
  forbidden: answers(() => error(403)),
  "the key is wrong": answers(() => error(401)),
  "too long": answers(() => error(400, "context_length_exceeded")),
  "an error in words": answers(() => new Response(QUOTE, { status: 500, headers: QUOTING_HEADERS })),
  "a page": answers(() => new Response(`<html>${QUOTE}`, { headers: { "content-type": "text/html" } })),
  "JSON that is no answer": answers(() => Response.json({ said: QUOTE })),
  "a redirect": answers(() => new Response(null, { status: 307, headers: { location: `https://${PROMPT}.example/` } })),
  "no connection": answers(() => new TypeError(QUOTE, { cause: { code: PROMPT } })),
  "an error in the middle": answers(() => streamed(created, delta, { type: "error", message: QUOTE, code: PROMPT })),
  "an error at the start": answers(() => streamed(created, { type: "error", error: { message: QUOTE, code: PROMPT, type: PROMPT } })),
  "a failed response": answers(() => streamed(created, { type: "response.failed", response: { error: { message: QUOTE, code: PROMPT } } })),
  "an overflow in the middle": answers(() =>
    streamed(created, { type: "error", message: `${QUOTE} maximum context length is 10 tokens`, code: "context_length_exceeded" }),
  ),
  incomplete: answers(() =>
    streamed(created, delta, { type: "response.incomplete", response: { incomplete_details: { reason: PROMPT } } }),
  ),
  "cut off": answers(() => streamed(created, delta)),
  "strange events": answers(() =>
    streamed(
      created,
      { type: PROMPT },
      { type: "response.output_item.added", output_index: 0, item: { type: PROMPT, text: QUOTE } },
      delta,
      completed,
    ),
  ),
  "a call that makes no sense": answers(() =>
    streamed(
      created,
      {
        type: "response.output_item.done",
        output_index: 0,
        item: { type: "function_call", id: "fc", call_id: PROMPT, name: PROMPT, arguments: QUOTE },
      },
      completed,
    ),
  ),
  "a damaged image": answers(() =>
    streamed(
      created,
      { type: "response.output_item.done", output_index: 0, item: { type: "image_generation_call", id: "ig", result: "iVBORw0KG" } },
      delta,
      completed,
    ),
  ),
  "no list": at("/models", () => error(500)),
  "a list that is none": at("/models", () => new Response(QUOTE)),
  "a list with strange entries": at("/models", () =>
    Response.json({
      data: [{ name: QUOTE }, { id: QUOTE }, { id: QUOTE }, { id: "acme/m", description: QUOTE, owned_by: PROMPT, type: "language" }],
    }),
  ),
  "the list cannot be fetched": at("/models", () => new TypeError(QUOTE)),
  "no word about the key": at("/credits", () => error(401)),
  "who serves it": at("/endpoints", () => error(500)),
};

for (const [name, intercept] of Object.entries(scenarios)) {
  test(`nothing private is logged or reported, and no key is shown: ${name}`, async (context) => {
    // Everything that would wait, such as the next attempt, runs immediately.
    const { setTimeout } = globalThis;
    context.mock.method(globalThis, "setTimeout", (run: () => void, ms: number) => setTimeout(run, ms < 10_000 ? 0 : ms));
    const { run, chat } = await start({ ...keyed, intercept });
    fake.settings.set("sluice.extraHeaders", { "x-team": HEADER, [keyed.configuration.baseUrl]: { "x-team": HEADER, "x bad": HEADER } });
    fake.answers = Array<undefined>(10);
    const answer = await chat(keyed.configuration, `${PROMPT} is what I write in my diary`).catch((error: Error) => ({ error }));
    const seen = [answer.error?.message, JSON.stringify(await fake.resolveModels())];
    for (const command of ["refreshModels", "testConnection"]) {
      seen.push(...(await run(command, ...(command === "testConnection" ? ["Copy Details"] : [undefined]))));
    }
    seen.push(fake.clipboard, fake.panels.at(-1)?.webview.html);
    const [report] = await run("exportReport");
    const isTrace = (line: string): boolean => line.startsWith("trace: ");
    assert(
      fake.logged.some((line) => !isTrace(line)),
      "something is logged",
    );
    for (const secret of SECRETS) {
      assert.deepEqual(
        fake.logged.filter((line) => line.includes(secret)),
        [],
        `${secret} at any level`,
      );
    }
    assert.deepEqual(
      fake.logged.filter((line) => !isTrace(line) && line.includes(PROMPT)),
      [],
      "above trace",
    );
    const isStored = (path: string, bytes: Uint8Array | Error): bytes is Uint8Array =>
      path.startsWith("/storage") && bytes instanceof Uint8Array;
    const stored = [...fake.files].map(([path, bytes]) => (isStored(path, bytes) ? Buffer.from(bytes).toString() : ""));
    assert.deepEqual(
      spellings(KEY).filter((key) => [...seen, ...stored].some((text) => text?.includes(key))),
      [],
      "shown or stored",
    );
    assert.deepEqual(
      [...SECRETS, PROMPT].filter((canary) => report!.includes(canary)),
      [],
      "in the report",
    );
  });
}

test("the log says what happened in the protocol's words", async (context) => {
  const { setTimeout } = globalThis;
  context.mock.method(globalThis, "setTimeout", (run: () => void, ms: number) => setTimeout(run, ms < 10_000 ? 0 : ms));
  let attempts = 0;
  const { chat } = await start({
    ...keyed,
    intercept: answers(() => (++attempts === 1 ? error(429, "rate_limit_exceeded") : error(400, "invalid_prompt"))),
  });
  await chat(keyed.configuration, "hello");
  const model = /^warn: (\S+): failed, rateLimited, HTTP 429, rate_limit_exceeded\. Asking again in [\d.]+ s\.$/;
  assert(
    fake.logged.some((line) => model.test(line)),
    fake.logged.join("\n"),
  );
  assert(fake.logged.some((line) => /^error: (\S+): failed, badRequest, HTTP 400, invalid_prompt$/.test(line)));
  assert(
    fake.logged.some((line) => line.startsWith("trace: ") && line.includes(`You wrote ${PROMPT}`)),
    "trace has it all",
  );
});
