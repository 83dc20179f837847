// Answers while something else fails: the disk is full, or the sign-in has expired.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as vscode from "vscode";
import { Modules } from "../../packages/loader/src/modules.js";
import { Reporter } from "../src/from-core.js";
import { Log } from "../src/log.js";
import { Provider, type Services } from "../src/provider.js";
import { keyed, modules, shown, start, streamed } from "./harness.js";
import { EventEmitter, FileSystemError, fake } from "./vscode.js";

const image = (index: number) => ({
  type: "response.output_item.done",
  output_index: index,
  item: { type: "image_generation_call", id: `ig${index}`, status: "completed", output_format: "png", result: `iVBORw0KGg${index}A` },
});
const text = { type: "response.output_text.delta", item_id: "m", output_index: 3, content_index: 0, delta: "Two pictures." };
const completed = { type: "response.completed", response: { status: "completed" } };

test("a full disk doesn't lose the answer, and the user is told once", async (context) => {
  const { chat } = await start({
    ...keyed,
    intercept: (url) => (url.endsWith("/responses") ? streamed(image(0), image(1), text, completed) : undefined),
  });
  const { writeFile } = vscode.workspace.fs;
  context.mock.method(vscode.workspace.fs, "writeFile", async (uri: vscode.Uri, bytes: Uint8Array) => {
    if (uri.path.includes("/images/")) {
      throw new FileSystemError("NoSpace");
    }
    await writeFile(uri, bytes);
  });
  const { parts, error } = await chat(keyed.configuration, "draw");
  assert.equal(error, undefined);
  assert.deepEqual(
    shown(parts)
      .map((part) => part.trim())
      .filter((part) => part !== "usage")
      .sort(),
    ["*A generated image could not be saved. Is the disk full?*", "Two pictures.", "image/png", "image/png"],
  );
  assert.equal(fake.logged.filter((line) => /^warn: .*A generated image could not be saved: Error NoSpace$/.test(line)).length, 1);
});

test("nothing is reported after a cancellation, whatever happens to an image", async () => {
  for (const outcome of ["saved", "failed"]) {
    const parts: unknown[] = [];
    let settle = (): void => undefined;
    const saved = new Promise<vscode.Uri>((resolve, reject) => {
      settle = () => (outcome === "saved" ? resolve(vscode.Uri.file("/images/a.png")) : reject(new Error("ENOSPC")));
    });
    const progress = { report: (part: unknown) => void parts.push(part) };
    const reporter = new Reporter(progress, { thinkingFallback: "hide", saveImage: () => saved, onProblem: () => undefined });
    reporter.report({ type: "data", mimeType: "image/png", base64: "iVBORw0KGgo=" });
    reporter.abandon();
    settle();
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(parts.length, 1, "an unhandled rejection would fail the test too");
  }
});

test("a damaged image is dropped with a note, and what follows is reported", () => {
  const parts: unknown[] = [];
  const problems: string[] = [];
  const progress = { report: (part: unknown) => void parts.push(part) };
  const reporter = new Reporter(progress, { thinkingFallback: "hide", onProblem: (what) => problems.push(what) });
  reporter.report({ type: "data", mimeType: "image/png", base64: "iVBORw0KG" });
  reporter.report({ type: "toolCall", callId: "c", name: "save_file", inputJson: "{}" });
  assert.deepEqual(shown(parts), ["call save_file {}"]);
  assert.deepEqual(problems, ["An image in the answer is damaged and was left out"]);
});

test("every request ends in the ledger, whatever happens to it", async () => {
  fake.reset();
  modules.forEach(([path, bytes]) => fake.files.set(path, bytes));
  const ended: (string | undefined)[] = [];
  const wasm = new Modules((name) => vscode.workspace.fs.readFile(vscode.Uri.file(`/extension/dist/${name}`)));
  const services = {
    modules: wasm,
    vault: { open: () => wasm.requests() },
    log: new Log(vscode.window.createOutputChannel("Sluice", { log: true })),
    lists: { onDidChange: () => undefined },
    recorder: { begin: () => undefined },
    counts: {
      begin: () => ({
        id: "",
        permit: async () => undefined,
        part: () => undefined,
        end: async (entry: string | undefined) => void ended.push(entry),
      }),
    },
    status: { retrying: () => undefined },
  } as unknown as Services;
  const signedOut = new Error("You are signed out.");
  const connection = {
    endpoint: {
      origin: "https://gateway.example",
      baseUrl: "https://gateway.example/v1",
      isLoopback: false,
      isUnencrypted: false,
      isVercel: false,
    },
    bearerFor: async () => Promise.reject(signedOut),
  };
  const provider = new Provider(services);
  const token = { isCancellationRequested: false, onCancellationRequested: new EventEmitter<void>().event };
  const model = {
    model: { id: "acme/m", refused: [], request: {} },
    connection,
  };
  const ask = provider.provideLanguageModelChatResponse(
    ...([model, [], { toolMode: 1 }, { report: () => undefined }, token] as unknown as Parameters<
      Provider["provideLanguageModelChatResponse"]
    >),
  );
  await assert.rejects(ask, signedOut);
  assert.deepEqual(ended, [undefined]);
});
