// The cost of the adapter package: AI SDK chunks, compared with the time that the SDK takes to produce them, and an
// Open Responses body, compared with a handwritten reader. The parts are stand-ins for VS Code's classes.

import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { TOOL_NAMES } from "./corpus.mjs";
import { check, respond } from "./readers.mjs";
import { Table } from "./report.mjs";
import { medians } from "./timing.mjs";

class LanguageModelTextPart {
  type = "text";
  constructor(value) {
    this.value = value;
  }
}

class LanguageModelToolCallPart {
  type = "toolCall";
  constructor(callId, name, input) {
    this.callId = callId;
    this.name = name;
    this.input = input;
  }
}

const vscode = { LanguageModelTextPart, LanguageModelToolCallPart };

export async function adapterTables({ adapter, rounds, text, tools, hand }) {
  const { OpenResponsesStreamAdapter, VSCodeStreamAdapter } = await import(pathToFileURL(resolve(adapter)));
  const read = (Adapter) => {
    const adapter = new Adapter({ vscode, logger: { debug() {}, warn() {}, error() {} } });
    return async (source) => {
      const parts = [];
      await adapter.processStream(source, { report: (part) => parts.push(part) });
      return parts;
    };
  };
  const direct = read(OpenResponsesStreamAdapter);
  const throughSdk = read(VSCodeStreamAdapter);

  for (const [title, corpus, chunks, aim] of [
    ["text, 16 KiB chunks", text, text.per16KiB, 0.4],
    ["text, one event a chunk", text, text.perEvent, 0.8],
    ["tools, 16 KiB chunks", tools, tools.per16KiB, undefined],
  ]) {
    check("OpenResponsesStreamAdapter", corpus, await direct(respond(chunks)));
    const [ours, theirs] = await medians(rounds, [{ run: () => direct(respond(chunks)) }, { run: () => hand.read(respond(chunks)) }]);
    const table = new Table(`OpenResponsesStreamAdapter: ${title}`);
    table.info("adapter", per(ours, corpus.events));
    table.info(hand.name, per(theirs, corpus.events));
    if (aim === undefined) table.info("adapter / hand-written", "", ours / theirs);
    else table.aim("adapter / hand-written", "", ours / theirs, { atMost: aim });
    table.print();
  }

  const start = await aiSdk();
  for (const corpus of [text, tools]) {
    const recorded = [];
    for await (const chunk of start(corpus).fullStream) recorded.push(chunk);
    check("VSCodeStreamAdapter", corpus, await throughSdk(start(corpus).fullStream));
    async function* replay() {
      yield* recorded;
    }
    const [making, adapting, iterating] = await medians(rounds, [
      {
        run: async () => {
          for await (const _ of start(corpus).fullStream);
        },
        every: 3,
      },
      { run: () => throughSdk(replay()) },
      {
        run: async () => {
          for await (const _ of replay());
        },
      },
    ]);
    const table = new Table(`VSCodeStreamAdapter: ${corpus.name}, ${recorded.length} chunks of fullStream`);
    table.info("ai streamText makes them", per(making, recorded.length));
    table.info("the adapter reads them", per(adapting, recorded.length));
    table.info("iterating alone", per(iterating, recorded.length));
    table.aim("adapter / ai", "", adapting / making, { atMost: 0.1 });
    table.print();
  }
}

/** Runs `streamText` over a corpus, with one event per chunk, as servers send them. */
async function aiSdk() {
  const [{ streamText, tool, jsonSchema }, { createOpenResponses }] = await Promise.all([import("ai"), import("@ai-sdk/open-responses")]);
  const inputSchema = jsonSchema({ type: "object" });
  const tools = Object.fromEntries(TOOL_NAMES.map((name) => [name, tool({ inputSchema })]));
  return (corpus) => {
    const fetch = async () => respond(corpus.perEvent);
    const provider = createOpenResponses({ name: "bench", url: "http://bench.invalid/v1/responses", fetch });
    return streamText({ model: provider("made-up-1"), prompt: "Go on.", tools });
  };
}

function per(milliseconds, count) {
  return `${((milliseconds * 1e3) / count).toFixed(2)} us each`;
}
