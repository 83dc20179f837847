// Stand-ins for the two programs that use models in VS Code 1.139: Copilot Chat and the core agent host. Each keeps of an
// answer what the original keeps, and gives back what the original gives back.

import assert from "node:assert/strict";

import * as vscode from "vscode";

import type { Provider } from "./harness.js";
import { EventEmitter, fake } from "./vscode.js";

export const TOOL = {
  name: "open_gate",
  description: "Opens a gate.",
  inputSchema: { type: "object", properties: { level: { type: "integer" } }, required: ["level"] },
};

type Model = Awaited<ReturnType<Provider["provideLanguageModelChatInformation"]>>[number];
interface Message {
  readonly role: number;
  readonly content: unknown[];
}

const MAX_ROUNDS = 25;

/** Cancels an answer, as VS Code does when the user presses the button. */
export class Cancellation {
  isCancellationRequested = false;
  readonly #requested = new EventEmitter<void>();
  readonly onCancellationRequested = this.#requested.event;
  cancel(): void {
    this.isCancellationRequested = true;
    this.#requested.fire();
  }
}

async function answer(
  provider: Provider,
  { id }: Model,
  messages: Message[],
  options: object,
  token = new Cancellation(),
): Promise<unknown[]> {
  // VS Code passes the model as it was listed last.
  const model = find(await list(provider), id);
  const parts: unknown[] = [];
  const report = (part: unknown): void => {
    assert(!token.isCancellationRequested, "VS Code drops what is reported after a cancellation");
    parts.push(part);
  };
  const all = { toolMode: 1, tools: [TOOL], modelOptions: {}, ...options };
  await provider.provideLanguageModelChatResponse(model, messages, all, { report }, token);
  return parts;
}

/** Lists the models of all groups, as VS Code does after every change. */
async function list(provider: Provider): Promise<Model[]> {
  assert.equal(provider, fake.providers.at(-1));
  return (await fake.resolveModels()) as Model[];
}

const isText = (part: unknown): part is vscode.LanguageModelTextPart => part instanceof vscode.LanguageModelTextPart;
const isCall = (part: unknown): part is vscode.LanguageModelToolCallPart => part instanceof vscode.LanguageModelToolCallPart;
const isThinking = (part: unknown): part is vscode.LanguageModelThinkingPart => part instanceof vscode.LanguageModelThinkingPart!;
const isData = (part: unknown): part is vscode.LanguageModelDataPart => part instanceof vscode.LanguageModelDataPart;
const result = ({ callId }: { callId: string }): Message => ({
  role: 1,
  content: [new vscode.LanguageModelToolResultPart(callId, [new vscode.LanguageModelTextPart("open")])],
});

/** Copilot Chat: joins texts and thinking, and gives thinking back within a turn only, to the same model only. */
export class CopilotChat {
  /** The rounds of each turn, with the model of each round. */
  readonly #turns: { question: Message; rounds: { model: string; said: unknown[]; thinking: unknown[]; results: Message[] }[] }[] = [];

  /** Asks a question, runs all tools and returns the text of the last answer. */
  async ask(provider: Provider, model: Model, question: string, options: object = {}): Promise<string> {
    const turn = { question: { role: 1, content: [new vscode.LanguageModelTextPart(question)] }, rounds: [] as never[] };
    this.#turns.push(turn);
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const messages = this.#turns.flatMap(({ question, rounds }) => [
        question,
        ...rounds.flatMap(({ model: by, said, thinking, results }) => {
          const mayThink = rounds === turn.rounds && by === model.id;
          return [{ role: 2, content: [...(mayThink ? thinking : []), ...said] }, ...results];
        }),
      ]);
      const parts = await answer(provider, model, messages, { requestInitiator: "GitHub.copilot-chat", ...options });
      const text = parts
        .filter(isText)
        .map(({ value }) => value)
        .join("");
      const calls = parts.filter(isCall);
      const metadata = parts.filter(isThinking).at(-1)?.metadata;
      const thought = parts
        .filter(isThinking)
        .map(({ value }) => value)
        .join("");
      (turn.rounds as unknown[]).push({
        model: model.id,
        said: [...(text === "" ? [] : [new vscode.LanguageModelTextPart(text)]), ...calls],
        thinking: metadata === undefined ? [] : [new vscode.LanguageModelThinkingPart!(thought, "", metadata)],
        results: calls.map(result),
      });
      if (calls.length === 0) {
        return text;
      }
    }
    throw new Error("the model goes on calling tools");
  }
}

/** An item of the agent host's protocol. */
type Item =
  | { type: "message"; role: string; text: string }
  | { type: "reasoning"; id: string; summary: string[]; encrypted_content: string | null }
  | { type: "function_call"; call_id: string; name: string; arguments: string }
  | { type: "function_call_output"; call_id: string; output: string };

/** The efforts that the agent host knows. It doesn't offer others. */
const KNOWN_EFFORTS: unknown[] = ["none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra"];

/** The core agent host: reads an answer when it is complete, and keeps the text of thinking and one string with it. */
export class AgentHost {
  readonly #input: Item[] = [];
  usage: { prompt_tokens?: number; completion_tokens?: number; completion_tokens_details?: { reasoning_tokens?: number } } | undefined;
  responseId: string | undefined;

  /** Returns what it tells its agents about a model. */
  static describe(model: object) {
    const { id, name, maxContextWindowTokens, maxInputTokens, maxOutputTokens, capabilities, configurationSchema } = model as {
      [field: string]: unknown;
      capabilities: { imageInput?: boolean };
      configurationSchema?: { properties: { reasoningEffort?: { enum: unknown[]; default?: unknown } } };
    };
    const effort = configurationSchema?.properties.reasoningEffort;
    return {
      ...{ id, name, maxContextWindowTokens, maxPromptTokens: maxInputTokens, maxOutputTokens },
      supportsVision: capabilities.imageInput === true,
      supportedReasoningEfforts: effort?.enum.filter((value) => KNOWN_EFFORTS.includes(value)),
      defaultReasoningEffort: KNOWN_EFFORTS.includes(effort?.default) ? effort?.default : undefined,
    };
  }

  async ask(provider: Provider, model: Model, question: string, options: object = {}, token?: Cancellation): Promise<string> {
    this.#input.push({ type: "message", role: "user", text: question });
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const messages = [{ role: 3, content: [new vscode.LanguageModelTextPart("You are an agent.")] }, ...this.#messages()];
      const all = { requestInitiator: "core", includeEncryptedThinking: true, ...options };
      // If the answer fails or is cancelled, this throws, and the host keeps nothing of the answer.
      const parts = await answer(provider, model, messages, all, token);
      const output = this.#output(parts, model.id);
      this.#input.push(...output);
      const calls = output.flatMap((item) => (item.type === "function_call" ? [item.call_id] : []));
      this.#input.push(...calls.map((call_id): Item => ({ type: "function_call_output", call_id, output: "open" })));
      if (calls.length === 0) {
        return output.flatMap((item) => (item.type === "message" ? [item.text] : [])).join("");
      }
    }
    throw new Error("the model goes on calling tools");
  }

  /** The items of the last answer that have reasoning, with what comes before and after them. */
  get shape(): string {
    return this.#input.map((item) => (item.type === "reasoning" && item.encrypted_content === null ? "thinking" : item.type)).join(" ");
  }

  #output(parts: unknown[], model: string): Item[] {
    const output: Item[] = [];
    for (const part of parts) {
      const last = output.at(-1);
      if (isText(part)) {
        last?.type === "message" ? (last.text += part.value) : output.push({ type: "message", role: "assistant", text: part.value });
      } else if (isThinking(part)) {
        const sealed = part.metadata?.["encrypted_content"];
        const encrypted_content = typeof sealed === "string" ? sealed : null;
        const id = part.id ?? "";
        if (last?.type === "reasoning" && last.id === id) {
          last.summary.push(`${last.summary.pop() ?? ""}${String(part.value)}`);
          last.encrypted_content = encrypted_content ?? last.encrypted_content;
        } else {
          output.push({ type: "reasoning", id, summary: [String(part.value)], encrypted_content });
        }
      } else if (isCall(part)) {
        output.push({ type: "function_call", call_id: part.callId, name: part.name, arguments: JSON.stringify(part.input) });
      } else if (isData(part) && part.mimeType === "usage") {
        this.usage = JSON.parse(new TextDecoder().decode(part.data)) as AgentHost["usage"];
      } else if (isData(part) && part.mimeType === "stateful_marker") {
        const [prefix, id] = new TextDecoder().decode(part.data).split("\\");
        this.responseId = prefix === model ? id : undefined;
      }
    }
    return output;
  }

  #messages(): Message[] {
    const messages: Message[] = [];
    for (const item of this.#input) {
      const message = this.#message(item);
      const last = messages.at(-1);
      message.role === 2 && last?.role === 2 ? last.content.push(...message.content) : messages.push(message);
    }
    return messages;
  }

  #message(item: Item): Message {
    switch (item.type) {
      case "message":
        return { role: item.role === "assistant" ? 2 : 1, content: [new vscode.LanguageModelTextPart(item.text)] };
      case "reasoning": {
        const metadata = item.encrypted_content === null ? {} : { encrypted_content: item.encrypted_content };
        // Its agents get another id unless the id is like OpenAI's.
        const id = item.id.startsWith("rs") ? item.id : "rs_byok_1";
        return { role: 2, content: [new vscode.LanguageModelThinkingPart!(item.summary, id, metadata)] };
      }
      case "function_call": {
        const input = JSON.parse(item.arguments) as object;
        return { role: 2, content: [new vscode.LanguageModelToolCallPart(item.call_id, item.name, input)] };
      }
      case "function_call_output":
        return result({ callId: item.call_id });
    }
  }
}

/** Finds a model as the agent host does: by its id alone. */
export function find(models: readonly Model[], id: string): Model {
  const model = models.find((model) => model.id === id);
  assert(model !== undefined, `${id} is not among ${models.map((model) => model.id).join(", ")}`);
  return model;
}
