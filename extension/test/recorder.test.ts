// Recordings: none unless the user wants them, complete if they do, and gone when they are deleted.

import assert from "node:assert/strict";
import { test } from "node:test";

import type { Recording } from "../../packages/loader/src/core.js";
import { KEY, keyed, openView as open, start, streamed } from "./harness.js";
import { fake } from "./vscode.js";

const QUESTION = "question-canary";
const EVENTS = [
  { type: "response.created", response: { id: "r" } },
  { type: "response.output_text.delta", item_id: "m", output_index: 0, content_index: 0, delta: `Your key is ${KEY}.` },
  { type: "response.completed", response: { id: "r", status: "completed", usage: { input_tokens: 9, output_tokens: 3 } } },
];
const intercept = (url: string): Response | undefined => (url.endsWith("/responses") ? streamed(...EVENTS) : undefined);
const recordings = (): [string, string][] =>
  [...fake.files]
    .filter(([name]) => name.startsWith("/workspace-storage/recordings/"))
    .map(([name, bytes]) => [name, new TextDecoder().decode(bytes as Uint8Array)]);

/** Waits until there is a recording. */
async function recorded(): Promise<Recording> {
  while (recordings().length === 0) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  return JSON.parse(recordings()[0]![1]) as Recording;
}

test("an exchange is recorded after the user has agreed, and deleted by one command", async () => {
  const { chat, run } = await start({ ...keyed, intercept });
  await chat(keyed.configuration, QUESTION);
  await run("toggleRecording", undefined);
  await chat(keyed.configuration, QUESTION);
  assert.deepEqual(recordings(), [], "the user has not agreed");
  await run("toggleRecording", "Record");
  await chat(keyed.configuration, QUESTION);
  const { record, request, response, status, url } = await recorded();
  assert.equal(recordings().length, 1);
  assert.deepEqual([status, url, record.finish.status], [200, "https://gateway.example/v1/responses", "completed"]);
  assert.equal(response, await streamed(...EVENTS).text());
  assert(JSON.stringify(request).includes(QUESTION));
  await run("deleteRecordings");
  assert.deepEqual(recordings(), []);
  await chat(keyed.configuration, QUESTION);
  assert.deepEqual(recordings(), [], "deleting also ends recording");
});

test("recording ends by itself", async (context) => {
  const { chat, run } = await start({ ...keyed, intercept });
  await run("toggleRecording", "Record");
  const { now } = Date;
  context.mock.method(Date, "now", () => now() + 9 * 3_600_000);
  await chat(keyed.configuration, QUESTION);
  assert.deepEqual(recordings(), []);
});

test("recordings are deleted after seven days, although nothing is recorded any more", async (context) => {
  const { chat, run, restart } = await start({ ...keyed, intercept });
  await run("toggleRecording", "Record");
  await chat(keyed.configuration, QUESTION);
  await recorded();
  const { now } = Date;
  fake.modified.set(recordings()[0]![0], now());
  const later = context.mock.method(Date, "now", () => now() + 6 * 86_400_000);
  const startAgain = async (): Promise<unknown> => (await restart()).provideLanguageModelChatInformation({ silent: true, ...keyed }, {});
  await startAgain();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(recordings().length, 1);
  later.mock.mockImplementation(() => now() + 8 * 86_400_000);
  await startAgain();
  while (recordings().length > 0) {
    await new Promise((resolve) => setImmediate(resolve));
  }
});

test("a request has the time of day, also after the machine has slept", async (context) => {
  const { chat, run } = await start({ ...keyed, intercept });
  await run("toggleRecording", "Record");
  const { now } = Date;
  context.mock.method(Date, "now", () => now() + 7 * 3_600_000);
  await chat(keyed.configuration, QUESTION);
  const { record } = await recorded();
  assert(Math.abs(record.startedMs - Date.now()) < 3_600_000, `${record.startedMs} and ${Date.now()}`);
});

test("an export has neither the messages nor a key, unless the user wants the messages", async () => {
  const { chat, run } = await start({ ...keyed, intercept });
  await run("toggleRecording", "Record");
  await chat(keyed.configuration, QUESTION);
  const { record } = await recorded();
  const { ask } = open();
  assert.equal(await ask({ isRecorded: record.id }), true);
  assert.equal(await ask({ isRecorded: "another" }), false);
  const exported = async (choice: string): Promise<string> => {
    fake.answers = [choice];
    fake.seen = [];
    await ask({ export: record.id });
    return fake.seen.at(-1)!.replace(/^document: /, "");
  };
  const redacted = await exported("Without the messages");
  assert(!redacted.includes(QUESTION) && !redacted.includes(KEY), redacted);
  const [header, answer, last] = redacted.split("\n").map((line) => (line === "" ? undefined : JSON.parse(line)));
  assert.deepEqual([header.sluiceExchange, header.chat, last.record.id], [1, undefined, record.id]);
  assert.match(answer.text, /^data: /);
  assert((await exported("With the messages")).includes(QUESTION));
});
