// Requests to servers that send too much, too slowly, or nothing sensible, and callbacks that fail.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { gzipSync } from "node:zlib";

import type { Core, Output } from "../../packages/loader/src/core.js";
import { loadCore } from "../../packages/loader/src/core.js";
import { exchange, get, type SendOptions, type Server } from "../../packages/loader/src/http.js";
import { loadRequests, type Prepared, type Requests } from "../../packages/loader/src/requests.js";
import { keyed, modules, shown, start, streamed } from "./harness.js";
import { fake } from "./vscode.js";

const MAX_LIST_BODY = 8 << 20;
const MAX_ERROR_BODY = 64 << 10;

const realFetch = globalThis.fetch;
const request = { method: "GET", url: "https://gateway.example/v1/models", headers: [], body: "" } as const;
const listRequest = { ...request, headers: [] as [string, string][] };

function connectionWith(fetch: Server["fetch"], key?: string): Server {
  return { bearerFor: async () => key, fetch };
}

const newRequests = () => loadRequests(modules[1]![1] as Uint8Array<ArrayBuffer>);

/** An endless body, and how much of it was read. */
function endless(status = 200, piece = new Uint8Array(10_000).fill(0x20)) {
  const taken = { bytes: 0, signal: undefined as AbortSignal | null | undefined };
  const fetch: Server["fetch"] = async (_url, { signal }) => {
    taken.signal = signal;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        taken.bytes += piece.length;
        controller.enqueue(piece);
      },
    });
    return new Response(body, { status });
  };
  return { taken, fetch };
}

test("a list is read up to a limit, then the request is aborted", async () => {
  const { taken, fetch } = endless();
  assert.deepEqual(await get(await newRequests(), connectionWith(fetch), listRequest), { transport: "tooLarge" });
  assert(taken.bytes >= MAX_LIST_BODY && taken.bytes < MAX_LIST_BODY + 100_000, `${taken.bytes}`);
  assert(taken.signal?.aborted);
});

test("only the beginning of an error is read", async () => {
  const { taken, fetch } = endless(500);
  const answer = await get(await newRequests(), connectionWith(fetch), listRequest);
  assert("status" in answer && answer.status === 500 && answer.body.length === MAX_ERROR_BODY);
  assert(taken.bytes < MAX_ERROR_BODY + 100_000 && taken.signal?.aborted);
});

test("the limit counts what a compressed body inflates to", async (context) => {
  const bomb = gzipSync(Buffer.alloc(64 << 20, " "));
  assert(bomb.length < 100_000);
  const server = createServer((_request, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(bomb));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  context.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  let read = 0;
  const counted: Server["fetch"] = async (_url, init) => {
    const response = await realFetch(`http://127.0.0.1:${port}/`, init);
    const count = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        read += chunk.length;
        controller.enqueue(chunk);
      },
    });
    return new Response(response.body!.pipeThrough(count), response);
  };
  assert.deepEqual(await get(await newRequests(), connectionWith(counted), listRequest), { transport: "tooLarge" });
  assert(read < MAX_LIST_BODY + (1 << 20), `${read}`);
});

test("every command that reads a list reports that it is too large", async () => {
  const { run } = await start({
    ...keyed,
    intercept: (url) => (url.endsWith("/models") ? new Response(" ".repeat(MAX_LIST_BODY + 1)) : undefined),
  });
  const said = /The response from https:\/\/gateway\.example is too large and was not read to its end\. Check the base URL\./;
  assert.match((await run("refreshModels", undefined))[0]!, said);
  assert.match((await run("testConnection", undefined))[0]!, said);
});

/** An endless body that delivers single bytes from time to time. */
function dripping(status: number) {
  const clock = { now: 0 };
  let more = (): void => undefined;
  const fetch: Server["fetch"] = async (_url, { signal }) =>
    new Response(
      new ReadableStream<Uint8Array>({
        start: (controller) => {
          more = () => controller.enqueue(new Uint8Array([0x20]));
          signal!.addEventListener("abort", () => controller.error(signal!.reason));
        },
      }),
      { status },
    );
  /** Advances the clock, with a byte every ten seconds. */
  const pass = async (context: TestContext, seconds: number): Promise<void> => {
    for (let at = 0; at < seconds; at += 10) {
      more();
      await new Promise((resolve) => setImmediate(resolve));
      clock.now += 10_000;
      context.mock.timers.tick(10_000);
    }
  };
  return { fetch, pass, clock };
}

test("a list has to arrive in time, even if it keeps trickling in", async (context) => {
  const requests = await newRequests();
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { fetch, pass } = dripping(200);
  const answer = get(requests, connectionWith(fetch), listRequest);
  await new Promise((resolve) => setImmediate(resolve));
  await pass(context, 30);
  const { transport } = (await answer) as { transport: string };
  assert.equal(transport, "headersTimeout");
});

const prepared: Prepared = {
  request: { method: "POST", url: "https://gateway.example/v1/responses", headers: [], body: "" },
  body: new TextEncoder().encode("{}"),
  origin: "https://gateway.example",
  baseUrl: "https://gateway.example",
  model: "m",
  toolNames: {},
  conversationId: null,
  marker: null,
  kind: "main",
  description: "m: conversation",
  chat: new Uint8Array(),
  question: { text: 0, thread: 0 },
  optional: [],
  notes: [],
};

async function ask(fetch: Server["fetch"], more: Partial<SendOptions> & { core?: Core; requests?: Requests } = {}) {
  const outputs: Output[] = [];
  const { core = await loadCore(modules[0]![1] as Uint8Array<ArrayBuffer>), requests = await newRequests(), ...options } = more;
  const { report } = await exchange(core, requests, {
    server: connectionWith(fetch),
    prepared,
    idleTimeoutMs: 300_000,
    trace: false,
    cancellation: new AbortController().signal,
    onOutput: (output) => outputs.push(output),
    onRetry: () => undefined,
    ...options,
  });
  return { ...report, outputs };
}

test("paced text is passed on while the server is silent, and nothing is lost", async () => {
  const event = (value: object): Uint8Array => new TextEncoder().encode(`data: ${JSON.stringify(value)}\n\n`);
  const delta = (text: string) => event({ type: "response.output_text.delta", output_index: 0, delta: text });
  let server: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      server = controller;
      controller.enqueue(delta("one "));
    },
  });
  const texts: string[] = [];
  // The server says "three" only after "two" was shown.
  const onOutput = (output: Output): void => {
    texts.push(output.type === "text" ? output.value : output.type);
    if (texts.length === 1) {
      server?.enqueue(delta("two "));
    } else if (texts.length === 2) {
      server?.enqueue(delta("three"));
      server?.enqueue(event({ type: "response.completed", response: {} }));
      server?.close();
    }
  };
  const { outcome } = await ask(async () => new Response(body), { pace: "chatView", onOutput });
  assert.equal(outcome.status, "completed");
  assert.deepEqual(texts, ["one ", "two ", "three"]);
});

test("an error has to arrive in time, and the part that arrived is used", async (context) => {
  const core = await loadCore(modules[0]![1] as Uint8Array<ArrayBuffer>);
  const requests = await newRequests();
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { fetch, pass, clock } = dripping(400);
  context.mock.method(performance, "now", () => clock.now);
  const answer = ask(fetch, { core, requests });
  await new Promise((resolve) => setImmediate(resolve));
  await pass(context, 30);
  assert.equal((await answer).outcome.error?.status, 400);
});

test("a server that only sends comments is given up after an hour, however fast they arrive", async (context) => {
  const core = await loadCore(modules[0]![1] as Uint8Array<ArrayBuffer>);
  const requests = await newRequests();
  let now = 0;
  // Every look at the clock takes a minute.
  context.mock.method(performance, "now", () => (now += 60_000));
  const { fetch } = endless(200, new TextEncoder().encode(": still here\n\n"));
  const { outcome, attempts } = await ask(fetch, { core, requests });
  assert.deepEqual([outcome.status, outcome.reason, attempts], ["truncated", "idle_timeout", 1]);
});

test("a response that isn't a stream is read up to a limit", async () => {
  const { taken, fetch } = endless(200, new Uint8Array(1 << 20).fill(0x20));
  const json: Server["fetch"] = async (url, init) =>
    new Response((await fetch(url, init)).body, { headers: { "content-type": "application/json" } });
  const { ending } = await ask(json);
  assert(ending.type === "rejected" && ending.kind === "tooLarge");
  assert(taken.bytes < 70 << 20 && taken.signal?.aborted);
});

const delta = (text: string) => ({ type: "response.output_text.delta", item_id: "m", output_index: 0, content_index: 0, delta: text });
const completed = { type: "response.completed", response: { status: "completed" } };

test("an error of the caller's is not taken for a broken connection", async () => {
  for (const thrown of [new TypeError("x is not a function"), new DOMException("bad", "InvalidCharacterError"), new Error("other")]) {
    let requests = 0;
    let signal: AbortSignal | null | undefined;
    const fetch: Server["fetch"] = async (_url, init) => {
      requests++;
      signal = init.signal;
      return streamed(delta("Hello"), completed);
    };
    const onOutput = (): void => {
      throw thrown;
    };
    await assert.rejects(ask(fetch, { onOutput }), (error) => error === thrown);
    assert.equal(requests, 1);
    assert(signal?.aborted, "the connection is closed");
  }
});

test("errors of fetch mean no connection, and errors of a body mean a broken one", async () => {
  for (const thrown of [new TypeError("fetch failed"), new DOMException("aborted", "AbortError"), new Error("net::ERR_FAILED")]) {
    const refused = await ask(async () => Promise.reject(thrown), { onRetry: () => undefined });
    assert.match(refused.ending.type === "rejected" ? refused.ending.message : "", /^No connection to/);
    const cut: Server["fetch"] = async () => {
      const bytes = new TextEncoder().encode(`data: ${JSON.stringify(delta("Hello"))}\n\n`);
      const pieces = [bytes];
      return new Response(
        new ReadableStream<Uint8Array>({
          pull: (controller) => (pieces.length > 0 ? controller.enqueue(pieces.pop()!) : controller.error(thrown)),
        }),
      );
    };
    const broken = await ask(cut);
    assert.deepEqual([broken.outcome.status, broken.outputs[0]?.type], ["truncated", "text"]);
  }
});

test("a key that isn't valid in a header is reported, and nothing is sent", async () => {
  for (const key of ["two\nlines", "two\r\nlines", "a b", "“quoted”", "nul\0"]) {
    let requests = 0;
    const fetch = async (): Promise<Response> => {
      requests++;
      return streamed(completed);
    };
    const connection = connectionWith(fetch, key);
    for (const sending of [get(await newRequests(), connection, listRequest), ask(fetch, { server: connection })]) {
      await assert.rejects(
        sending,
        (error: Error) => /The key has characters that cannot be sent/.test(error.message) && !error.message.includes(key),
      );
    }
    assert.equal(requests, 0);
  }
});

test("long work is split, so that other code gets its turn", async (context) => {
  const core = await loadCore(modules[0]![1] as Uint8Array<ArrayBuffer>);
  let time = 0;
  let turns = 0;
  const { setTimeout } = globalThis;
  context.mock.method(performance, "now", () => time);
  context.mock.method(globalThis, "setTimeout", (run: () => void, ms: number) => {
    turns += ms === 0 ? 1 : 0;
    return setTimeout(run, ms);
  });
  const cancellation = new AbortController();
  // These are separate outputs in one chunk: text between thinking isn't joined.
  const thought = (at: number) => ({
    type: "response.reasoning_summary_text.delta",
    item_id: `r${at}`,
    output_index: at,
    summary_index: 0,
    delta: "x",
  });
  const events = Array.from({ length: 1000 }, (_, at) => (at % 2 === 0 ? thought(at) : delta("y")));
  let outputs = 0;
  const work = (options: Partial<SendOptions>) =>
    ask(async () => streamed(...events, completed), {
      core,
      ...options,
      onOutput: () => {
        time += 1;
        outputs++;
        if (outputs === 1500) {
          cancellation.abort();
        }
      },
    });
  await work({});
  assert(outputs >= 1000 && turns >= 40 && turns <= 60, `${turns} turns for ${outputs} outputs of 1 ms each`);
  await work({ cancellation: cancellation.signal });
  assert.equal(outputs, 1500, "a cancellation is heard in between");
});

test("a large chunk is read in pieces", async (context) => {
  const sizes: number[] = [];
  const core = await loadCore(modules[0]![1] as Uint8Array<ArrayBuffer>);
  const open = core.openExchange.bind(core);
  context.mock.method(core, "openExchange", (options: object) => {
    const opened = open(options);
    const handle = opened.handleBytes.bind(opened);
    context.mock.method(opened, "handleBytes", (bytes: Uint8Array) => {
      sizes.push(bytes.length);
      return handle(bytes);
    });
    return opened;
  });
  const body = `${": a comment\n".repeat(25_000)}data: ${JSON.stringify(completed)}\n\n`;
  await ask(async () => new Response(body), { core });
  assert(Math.max(...sizes) <= 16_384);
  assert.equal(
    sizes.reduce((sum, size) => sum + size, 0),
    body.length,
  );
});

test("a damaged image affects nothing else", async () => {
  const image = (result: string) => ({
    type: "response.output_item.done",
    output_index: 0,
    item: { type: "image_generation_call", id: "ig", status: "completed", output_format: "png", result },
  });
  const call = {
    type: "response.output_item.done",
    output_index: 1,
    item: { type: "function_call", id: "fc", call_id: "c", name: "save_file", arguments: '{"path":"a"}' },
  };
  const good = "iVBORw0KGgo=";
  for (const bad of ["iVBORw0KG", "iVBORw0KGgo==", "=iVBORw0KGgo", "iVBOR=w0KGgo", "iVBORw0KGg=o", "iVBORw0KGgo=====", "A"]) {
    const { chat } = await start({
      ...keyed,
      intercept: (url) =>
        url.endsWith("/responses") ? streamed(image(bad), call, { ...delta("after"), output_index: 2 }, completed) : undefined,
    });
    const { parts, error } = await chat(keyed.configuration, "draw");
    assert.equal(error, undefined, bad);
    assert.deepEqual(
      shown(parts).filter((part) => !/^image|^usage/.test(part)),
      ['call save_file {"path":"a"}', "after"],
      bad,
    );
    assert(
      fake.logged.some((line) => /image/i.test(line)),
      "it leaves a note",
    );
  }
  const { chat } = await start({
    ...keyed,
    intercept: (url) => (url.endsWith("/responses") ? streamed(image(good), call, completed) : undefined),
  });
  const parts = shown((await chat(keyed.configuration, "draw")).parts);
  assert.deepEqual(
    parts.filter((part) => !/Generated image|^usage/.test(part)),
    ["image/png", 'call save_file {"path":"a"}'],
  );
});
