// This is compiled but never run: the types as an ES module sees them, together with VS Code's own types.

import { OpenResponsesStreamAdapter, type Outcome, type StreamUsage, VSCodeStreamAdapter } from "@sluice/stream-adapter";
import { countTokens } from "@sluice/stream-adapter/tokens";
import * as vscode from "vscode";

export async function respond(
  stream: AsyncIterable<{ type: "text-delta"; text: string }>,
  progress: vscode.Progress<vscode.LanguageModelResponsePart>,
  token: vscode.CancellationToken,
): Promise<StreamUsage> {
  const adapter = new VSCodeStreamAdapter({
    vscode,
    enableReasoning: true,
    onUnknownChunk: (chunk: unknown) => void chunk,
    logger: console,
  });
  const usage = await adapter.processStream(stream, progress, token);
  const outcome: Outcome | undefined = adapter.getOutcome();
  const tokens: number | null = usage.inputTokens;
  void [outcome, tokens];
  for await (const part of adapter.adaptStream<vscode.LanguageModelResponsePart>(stream)) {
    progress.report(part);
  }
  await new OpenResponsesStreamAdapter({ vscode }).processStream(fetch("https://a.example"), progress, token);
  // @ts-expect-error A number is not a stream.
  await adapter.processStream(5, progress);
  // @ts-expect-error There is no such option.
  new VSCodeStreamAdapter({ enableReasonin: true });
  return usage;
}

export const provideTokenCount: vscode.LanguageModelChatProvider["provideTokenCount"] = ({ id }, text) => countTokens(id, text);
