// Recordings: exchanges word for word. There are none unless the user switches recording on, which applies to one workspace
// and ends by itself. They are kept in the workspace's own storage, which VS Code never synchronizes.

import * as vscode from "vscode";

import type { Recording, RequestRecord } from "../../packages/loader/src/core.js";
import type { SendOptions } from "../../packages/loader/src/http.js";
import type { Modules } from "../../packages/loader/src/modules.js";
import type { Prepared } from "../../packages/loader/src/requests.js";
import { Folder } from "./folder.js";
import type { Log } from "./log.js";
import { pick, showInformation } from "./notify.js";

/** When recording ends, in the workspace's state. A dialog of the core sets it. */
const UNTIL = "recordingUntil";
/** The rest of a longer response isn't recorded. */
const MAX_RESPONSE = 16 << 20;

export class Recorder {
  readonly #folder: Folder | undefined;
  readonly #tapes = new Map<string, { prepared: Prepared; status: number | null; chunks: Uint8Array[]; size: number }>();

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly modules: Modules,
    private readonly log: Log,
  ) {
    this.#folder = context.storageUri && new Folder(context.storageUri);
  }

  /** Deletes recordings that are too old. Also called when VS Code starts, because nothing may ever be recorded again. */
  async prune(): Promise<void> {
    const requests = await this.modules.requests();
    await this.#folder?.inTurn((folder) => requests.work("pruneRecordings", folder));
  }

  get isOn(): boolean {
    return this.#folder !== undefined && this.context.workspaceState.get(UNTIL, 0) > Date.now();
  }

  /** A request begins. Returns undefined if it isn't recorded. */
  begin(id: string, prepared: Prepared): SendOptions["tape"] {
    if (!this.isOn) {
      return undefined;
    }
    const tape = { prepared, status: null as number | null, chunks: [] as Uint8Array[], size: 0 };
    this.#tapes.set(id, tape);
    return {
      // A request that is sent again starts over.
      head: (status) => Object.assign(tape, { status, chunks: [], size: 0 }),
      bytes: (bytes) => {
        tape.size += bytes.length;
        if (tape.size <= MAX_RESPONSE) {
          tape.chunks.push(bytes.slice());
        }
      },
    };
  }

  /** A request is over. If it was recorded, the recording is saved. */
  async finish(record: RequestRecord): Promise<void> {
    const tape = this.#tapes.get(record.id);
    this.#tapes.delete(record.id);
    if (tape === undefined || this.#folder === undefined) {
      return;
    }
    const { prepared, status, chunks } = tape;
    const recording: Recording = {
      version: 1,
      record,
      url: prepared.request.url,
      request: JSON.parse(new TextDecoder().decode(prepared.body)),
      chat: JSON.parse(new TextDecoder().decode(prepared.chat)),
      status,
      response: await new Blob(chunks as BlobPart[]).text(),
    };
    try {
      await this.#folder.replace(fileOf(record.id), JSON.stringify(recording));
      await this.prune();
    } catch (error) {
      this.log.failure("warn", "An exchange could not be recorded", error);
    }
  }

  async has(id: string): Promise<boolean> {
    return (await this.#folder?.has(fileOf(id))) ?? false;
  }

  /** Opens a recording as a document, which the user can save. */
  async export(id: string): Promise<void> {
    const redacted = vscode.l10n.t("Without the messages");
    const rows = [
      {
        label: redacted,
        detail: vscode.l10n.t("The request has lengths in place of its texts. The answer stays, so that it can be replayed."),
      },
      { label: vscode.l10n.t("With the messages"), detail: vscode.l10n.t("Everything except the key.") },
    ];
    const chosen = await pick(rows, vscode.l10n.t("Export as a File"));
    if (chosen === undefined) {
      return;
    }
    const text = (await this.#folder?.readText(fileOf(id))) ?? "";
    const requests = await this.modules.requests();
    const content = requests.exportRecording(this.log.secrets, text, chosen.label !== redacted) ?? "";
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content, language: "jsonl" }));
  }

  /** Deletes the recordings of this workspace and ends recording. */
  async deleteAll(): Promise<void> {
    await this.context.workspaceState.update(UNTIL, undefined);
    this.#tapes.clear();
    await this.#folder?.delete("recordings");
    void showInformation(vscode.l10n.t("Sluice: the recordings of this workspace are deleted."));
  }
}

function fileOf(id: string): string {
  return `recordings/${id}.json`;
}
