// The fault matrix in all shells: repeats the cases of the client's matrix with the extension and with the stream adapter,
// against the same gateway, and compares what a user gets: the ending, the words, the parts, the counts and the number of
// requests. `cargo xtask test` runs it. Every difference is a failure, unless `DIFFERENCES` has it with its reason.

import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

import * as vscode from "vscode";
import { directFetch } from "../../packages/loader/src/direct-fetch.js";
import { Modules } from "../../packages/loader/src/modules.js";
import { OpenResponsesStreamAdapter } from "../../packages/stream-adapter/src/index.js";
import { Log } from "../src/log.js";
import type { SluiceModel } from "../src/model-information.js";
import { Provider, type Services } from "../src/provider.js";
import { EventEmitter, fake } from "./vscode.js";

type Part = { text: string } | { thinking: string } | { call: string; input: unknown } | { data: string; base64: string };

/** What a user gets. */
interface Result {
  ending: "done" | "cancelled" | "rejected";
  kind: string | null;
  words: string | null;
  parts: Part[];
  usage: object | null;
  requests: number;
  /** How many parts were reported before they were joined. */
  reported?: number;
}

interface Case {
  fault: string;
  model: string;
  prompt: string;
  cancel: "start" | "firstPart" | "firstWait" | "thirdPiece" | null;
  /** How many bytes of the body arrive before the server falls silent. */
  silentAfter: number | null;
}

/** `failure` is what happened, without advice. */
type ClientResult = Result & { failure: string | null };

const matrix = JSON.parse(readFileSync(process.env["SLUICE_FAULTS"]!, "utf8")) as {
  key: string;
  maxOutputTokens: number;
  conversation: string;
  rows: { case: Case; client: ClientResult }[];
};
const baseUrl = process.env["SLUICE_GATEWAY"]!;
const origin = new URL(baseUrl).origin;
const wasm = (name: string): Uint8Array => readFileSync(`${process.env["SLUICE_WASM_DIR"]}/${name}.wasm`);

/** Longer than the core's other limits, so that its timers can be recognized. */
const IDLE_SECONDS = 1_000;
const AT_ONCE = 32;

type Shell = "extension" | "adapter";

/** An intended difference. `apply` turns the client's result into the one that the shell should have. */
interface Difference {
  readonly name: string;
  readonly shell: Shell;
  readonly reason: string;
  applies(result: ClientResult, tested: Case): boolean;
  apply(result: ClientResult, tested: Case): ClientResult;
}

const sentOnce = (tested: Case): boolean => tested.fault.split("+").some((fault) => fault.startsWith("fail-times"));

const DIFFERENCES: Difference[] = [
  {
    name: "one request",
    shell: "adapter",
    reason: "the caller made the request, so the adapter doesn't send it again",
    applies: ({ requests }, tested) => requests > 1 && !sentOnce(tested),
    apply: (result) => ({ ...result, requests: 1 }),
  },
  {
    name: "the bare failure",
    shell: "adapter",
    reason: "the provider's author decides what to advise, so the adapter says only what happened",
    applies: ({ failure }) => failure !== null,
    apply: (result) => ({ ...result, words: result.failure }),
  },
  {
    name: "an unusual answer resolves",
    shell: "adapter",
    reason: "the server completed the answer; whether one that is cut off or empty is acceptable is up to the provider",
    applies: ({ ending, kind }) => ending === "rejected" && kind === null,
    apply: (result) => ({ ...result, ending: "done", words: null }),
  },
  {
    name: "citations as data",
    shell: "adapter",
    reason: "the provider's author decides how sources look",
    applies: (_, { fault }) => fault.startsWith("quote-key-answer=citation"),
    apply: (result) => {
      const key = `Bearer ${matrix.key}`;
      const url = `https://example.com/?key=${encodeURIComponent(key)}`;
      const citation = JSON.stringify({ type: "citation", sourceType: "url", url, title: key });
      const data = { data: "application/vnd.vscode.citation+json", base64: Buffer.from(citation).toString("base64") };
      return { ...result, parts: [{ text: "Here it is." }, data] };
    },
  },
  {
    name: "where to change the key",
    shell: "extension",
    reason: "only the extension has a command for it",
    applies: ({ kind, words }) => kind === "signIn" && words !== null,
    apply: (result) => ({ ...result, words: `${result.words} "Sluice: Add or Change a Key" in the command palette replaces the key.` }),
  },
  {
    name: "citations of other servers",
    shell: "adapter",
    reason: "the provider's author decides how sources look",
    // Most servers have no citations, and only the words of the answer arrive.
    applies: ({ parts }, { model }) =>
      model.startsWith("sluice/citations+as=") && JSON.stringify(parts).includes("https://www.openresponses.org/"),
    apply: (result) => {
      const sources = [
        { url: "https://www.openresponses.org/", title: "Open Responses" },
        { url: "https://vercel.com/docs/ai-gateway", title: "AI Gateway [docs] (beta)" },
      ];
      const data = sources.map(({ url, title }) => ({
        data: "application/vnd.vscode.citation+json",
        base64: Buffer.from(JSON.stringify({ type: "citation", sourceType: "url", url, title })).toString("base64"),
      }));
      return { ...result, parts: [{ text: "Open Responses is a specification. The gateway speaks it." }, ...data] };
    },
  },
  {
    name: "silence",
    shell: "adapter",
    reason: "the caller owns the socket and the time, so the caller cancels",
    applies: ({ ending }, tested) => tested.silentAfter !== null && ending === "rejected",
    apply: (result) => ({ ...result, ending: "cancelled", words: null, kind: null, usage: null }),
  },
];

/** Cases that a shell can't have. */
function cannotHave(shell: Shell, tested: Case): boolean {
  if (shell === "extension") {
    return false;
  }
  // Without a response there is nothing to adapt, and the adapter never waits. It sees the first failure only, which
  // other cases have.
  const neverHasResponse = ["never-headers", "reset-before-headers"].some((fault) => tested.fault.startsWith(fault));
  return neverHasResponse || tested.cancel === "firstWait" || sentOnce(tested);
}

/** What is the same in every run. */
function steady(given: Result, { fault, cancel }: Case): Result {
  const result = {
    ...given,
    // Nothing may be reported after a cancellation.
    usage: given.ending === "cancelled" ? null : given.usage,
    // The client also counts an attempt that was cancelled before it was sent.
    requests: cancel === "start" ? 0 : given.requests,
  };
  const host = (words: string): string => words.replaceAll(/127\.0\.0\.1:\d+/g, "HOST");
  const words = result.words === null ? null : host(result.words);
  if (fault.startsWith("retry-after-date")) {
    // The time until a date depends on the clock.
    return { ...result, words: words?.replaceAll(/\d+ \w+/g, "TIME") ?? null };
  }
  if (cancel === "firstPart") {
    // How much of the answer is in the first part, or whether it is all of it, depends on how the bytes arrive. What
    // matters is that no other part follows.
    return { ...result, ending: "cancelled", kind: null, words: null, parts: [], usage: null };
  }
  // A reset may overtake bytes that were sent before it, even the headers.
  return fault.startsWith("reset-at") ? { ...result, words: null, parts: [], requests: 0, usage: null } : { ...result, words };
}

/** One case in one shell. */
class Run {
  requests = 0;
  bytes = 0;
  pieces = 0;
  isWaiting = false;
  readonly cancelled = new EventEmitter<void>();
  readonly token = { isCancellationRequested: false, onCancellationRequested: this.cancelled.event };
  readonly parts: Part[] = [];
  usage: object | null = null;
  reported = 0;
  /** Ends what is left of the connections. */
  readonly #over = new AbortController();

  constructor(
    readonly tested: Case,
    readonly cancelsSilence: boolean,
  ) {
    if (tested.cancel === "start") {
      this.token.isCancellationRequested = true;
    }
  }

  cancel(): void {
    if (!this.token.isCancellationRequested) {
      this.token.isCancellationRequested = true;
      this.cancelled.fire();
    }
  }

  get isSilent(): boolean {
    return this.tested.silentAfter !== null && this.bytes >= this.tested.silentAfter;
  }

  report(part: unknown): void {
    const last = this.parts.at(-1);
    this.reported += part instanceof vscode.LanguageModelDataPart ? 0 : 1;
    if (part instanceof vscode.LanguageModelTextPart) {
      last !== undefined && "text" in last ? (last.text += part.value) : this.parts.push({ text: part.value });
    } else if (part instanceof vscode.LanguageModelToolCallPart) {
      this.parts.push({ call: part.name, input: part.input });
    } else if (part instanceof vscode.LanguageModelDataPart) {
      if (part.mimeType === "usage") {
        this.usage = JSON.parse(new TextDecoder().decode(part.data)) as object;
      } else if (part.mimeType !== "stateful_marker") {
        this.parts.push({ data: part.mimeType, base64: Buffer.from(part.data).toString("base64") });
      }
    } else {
      const { value } = part as { value: string };
      if (value !== "") {
        last !== undefined && "thinking" in last ? (last.thinking += value) : this.parts.push({ thinking: value });
      }
    }
    if (this.tested.cancel === "firstPart") {
      this.cancel();
    }
  }

  /** `fetch`, counted. */
  async fetch(url: string, init: RequestInit): Promise<Response> {
    this.requests++;
    this.bytes = 0;
    const signals = init.signal == null ? [] : [init.signal];
    const response = await directFetch(url, { ...init, signal: AbortSignal.any([...signals, this.#over.signal]) });
    const reader = response.body?.getReader();
    if (reader !== undefined) {
      const body = new ReadableStream<Uint8Array>(
        {
          pull: async (controller) => {
            if (this.cancelsSilence && this.isSilent) {
              this.cancel();
            }
            const { done, value } = await reader.read();
            if (done) {
              return controller.close();
            }
            this.bytes += value.length;
            controller.enqueue(value);
            if (this.tested.cancel === "thirdPiece" && ++this.pieces === 3) {
              this.cancel();
            }
          },
          cancel: (reason) => reader.cancel(reason),
        },
        { highWaterMark: 0 },
      );
      Object.defineProperty(response, "body", { value: body });
      Object.defineProperty(response, "url", { value: url });
    }
    return response;
  }

  result(thrown: unknown, kind: string | null): Result {
    this.#over.abort();
    const { parts, usage, requests, reported } = this;
    const wasCancelled = thrown instanceof vscode.CancellationError;
    const ending = thrown === undefined ? "done" : wasCancelled ? "cancelled" : "rejected";
    const words = ending === "rejected" ? (thrown as Error).message : null;
    return { ending, kind, words, parts, usage, requests, reported };
  }
}

const running = new AsyncLocalStorage<Run>();

/**
 * The time that the extension waits is not spent. A wait before another attempt ends at once; a time limit runs out at
 * once if the server has fallen silent, and never otherwise.
 */
function replaceTime(): void {
  const { setTimeout: real } = globalThis;
  const held = (): NodeJS.Timeout => real(() => undefined, 0);
  globalThis.setTimeout = ((call: () => void, ms: number) => {
    const run = running.getStore();
    if (run?.isWaiting) {
      run.isWaiting = false;
      return real(call, 0);
    }
    // Short waits pace the text.
    if (run === undefined || ms < 200) {
      return real(call, ms);
    }
    // While a call is open, only the longer limit for the next part counts.
    const isLimit = ms >= IDLE_SECONDS * 1000 || run.tested.fault === "never-headers";
    return run.isSilent && isLimit ? real(call, 0) : held();
  }) as typeof setTimeout;
}

function provider(): Provider {
  fake.reset();
  for (const name of ["sluice_wasm", "sluice_requests_wasm"]) {
    fake.files.set(`/extension/dist/${name}.wasm`, wasm(name));
  }
  fake.settings.set("sluice.idleTimeoutSeconds", IDLE_SECONDS);
  const modules = new Modules((name) => vscode.workspace.fs.readFile(vscode.Uri.file(`/extension/dist/${name}`)));
  const services = {
    modules,
    vault: { open: () => modules.requests(), changed: () => undefined },
    log: new Log(vscode.window.createOutputChannel("Sluice", { log: true })),
    lists: { onDidChange: () => undefined, work: async () => undefined },
    recorder: { begin: () => undefined },
    counts: { begin: () => ({ id: "", permit: async () => undefined, part: () => undefined, end: async () => undefined }) },
    status: {
      retrying: () => {
        const run = running.getStore()!;
        run.isWaiting = true;
        if (run.tested.cancel === "firstWait") {
          run.cancel();
        }
      },
    },
  };
  return new Provider(services as unknown as Services);
}

const TOOLS = ["open_gate", "read_level"].map((name) => ({ name, description: "" }));

async function withExtension(sluice: Provider, tested: Case): Promise<Result & { body: string }> {
  const run = new Run(tested, false);
  let body = "";
  const connection = {
    endpoint: { origin, baseUrl, isLoopback: true, isUnencrypted: false, isVercel: false, keysPage: null },
    id: "test",
    isDemo: false,
    bearerFor: async () => matrix.key,
    fetch: (url: string, init: RequestInit) => {
      body = init.body instanceof Uint8Array ? new TextDecoder().decode(init.body) : String(init.body);
      return run.fetch(url, init);
    },
  };
  const model = { model: { id: tested.model, refused: [], request: { maxOutputTokens: matrix.maxOutputTokens } }, connection };
  const message = { role: 1, content: [new vscode.LanguageModelTextPart(tested.prompt)], name: undefined };
  const options = { toolMode: 1, requestInitiator: "acme.other", tools: tested.model.includes("tools") ? TOOLS : [] };
  let thrown: unknown;
  await running.run(run, async () => {
    try {
      await sluice.provideLanguageModelChatResponse(
        model as unknown as SluiceModel,
        [message],
        options,
        { report: (part) => run.report(part) },
        run.token as unknown as vscode.CancellationToken,
      );
    } catch (error) {
      thrown = error;
    }
  });
  return { ...run.result(thrown, null), body };
}

async function withAdapter(tested: Case, body: string): Promise<Result> {
  const run = new Run(tested, true);
  const quiet = { debug: () => undefined, warn: () => undefined, error: () => undefined };
  const adapter = new OpenResponsesStreamAdapter({ vscode, logger: quiet, reportUsage: true });
  const headers = { "content-type": "application/json", authorization: `Bearer ${matrix.key}`, accept: "text/event-stream" };
  let thrown: unknown;
  try {
    const response = run.fetch(`${baseUrl}/responses`, { method: "POST", headers, body });
    await adapter.processStream(response, { report: (part) => run.report(part) }, run.token);
  } catch (error) {
    thrown = error;
  }
  const outcome = adapter.getOutcome();
  const kind = outcome?.error?.kind ?? null;
  return run.result(outcome?.status === "cancelled" ? new vscode.CancellationError() : thrown, kind);
}

/** Runs a function for every value, many at the same time. */
async function forEach<T>(values: T[], each: (value: T) => Promise<void>): Promise<void> {
  const rest = values.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const value of rest) await each(value);
    }),
  );
}

test("every fault has the same result in the client, the extension and the adapter", async () => {
  Object.defineProperty(globalThis.crypto, "randomUUID", { value: () => matrix.conversation });
  Object.assign(globalThis, { SLUICE_WASM: gzipSync(wasm("sluice_wasm")).toString("base64") });
  replaceTime();
  const sluice = provider();
  const wrong: object[] = [];
  const meant = new Map<Difference, number>(DIFFERENCES.map((difference) => [difference, 0]));
  const compare = (shell: Shell, tested: Case, client: ClientResult, got: Result): void => {
    let expected = { ...client, parts: client.parts.map(parsed) };
    for (const difference of DIFFERENCES) {
      if (difference.shell === shell && difference.applies(expected, tested)) {
        meant.set(difference, meant.get(difference)! + 1);
        expected = difference.apply(expected, tested);
      }
    }
    const { failure: _, ...result } = expected;
    const hasNoKind = shell === "extension" || result.ending !== "rejected";
    const { reported, ...comparable } = got;
    const [left, right] = [result, comparable].map((each) => steady(hasNoKind ? { ...each, kind: null } : each, tested));
    try {
      assert.deepEqual(right, left);
      assert(tested.cancel !== "firstPart" || reported === 1, "a part after the cancellation");
    } catch {
      wrong.push({ shell, model: tested.model, cancel: tested.cancel, reported, expected: left, got: right });
    }
  };
  let compared = 0;
  await forEach(matrix.rows, async ({ case: tested, client }) => {
    const { body, ...result } = await withExtension(sluice, tested);
    compare("extension", tested, client, result);
    compared++;
    if (!cannotHave("adapter", tested)) {
      compare("adapter", tested, client, await withAdapter(tested, body));
      compared++;
    }
  });
  const stale = DIFFERENCES.filter((difference) => meant.get(difference) === 0).map(({ name }) => name);
  assert.deepEqual(stale, [], "these differences no longer exist");
  console.log(`   ${matrix.rows.length} cases, ${compared} results compared with the client's, ${wrong.length} different`);
  for (const [{ name, shell, reason }, count] of meant) {
    console.log(`   ${String(count).padStart(6)} in the ${shell}: ${name}, because ${reason}`);
  }
  assert.equal(wrong.length, 0, JSON.stringify(wrong.slice(0, 30), undefined, 1));
});

function parsed(part: Part): Part {
  return "call" in part ? { ...part, input: JSON.parse(part.input as string) as unknown } : part;
}
