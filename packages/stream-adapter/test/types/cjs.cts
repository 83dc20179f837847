// This is compiled but never run: the same from CommonJS.

import vscode = require("vscode");
import adapters = require("@sluice/stream-adapter");

export async function respond(response: Response, progress: vscode.Progress<vscode.LanguageModelResponsePart>): Promise<number | null> {
  const adapter = new adapters.OpenResponsesStreamAdapter({ vscode });
  return (await adapter.processStream(response, progress)).outputTokens;
}
