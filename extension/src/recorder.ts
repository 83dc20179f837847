// Recordings: exchanges word for word. There are none unless the user switches recording on, which applies to one workspace
// and ends by itself. They are kept in the workspace's own storage, which VS Code never synchronizes.

import * as vscode from "vscode";

import { MAX_RECORDED_RESPONSE, type Recording, type RecordingTask, type RequestRecord } from "../../packages/loader/src/boundary.js";
import type { SendOptions } from "../../packages/loader/src/http.js";
import type { Modules } from "../../packages/loader/src/modules.js";
import type { Prepared } from "../../packages/loader/src/requests.js";
import { Folder } from "./folder.js";
import type { Log } from "./log.js";
import { showInformation } from "./notify.js";

/** When recording ends, in the workspace's state. A dialog of the core sets it. */
const UNTIL = "recordingUntil";

export class Recorder {
  readonly #folder: Folder | undefined;
  readonly #tapes = new Map<string, { prepared: Prepared; status: number | null; chunks: Uint8Array[]; size: number }>();

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly modules: Modules,
    private readonly log: Log,
  ) {
    const failed = (error: unknown): void => log.failure("warn", "An exchange could not be recorded", error);
    this.#folder = context.storageUri && new Folder(context.storageUri, failed);
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
        if (tape.size <= MAX_RECORDED_RESPONSE) {
          tape.chunks.push(bytes.slice());
        }
      },
    };
  }

  /** A request is over. If it was recorded, the recording is saved. */
  async finish(record: RequestRecord): Promise<void> {
    const tape = this.#tapes.get(record.id);
    this.#tapes.delete(record.id);
    if (tape === undefined) {
      return;
    }
    const { prepared, status, chunks } = tape;
    const keep: Recording = {
      version: 1,
      record,
      url: prepared.request.url,
      request: JSON.parse(new TextDecoder().decode(prepared.body)),
      chat: JSON.parse(new TextDecoder().decode(prepared.chat)),
      status,
      response: await new Blob(chunks as BlobPart[]).text(),
    };
    await this.work({ keep });
  }

  /** Opens a recording as a document, which the user can save. */
  async open(id: string, withTexts: boolean): Promise<void> {
    const content = (await this.work<string | null>({ export: { id, secrets: [...this.log.secrets], withTexts } })) ?? "";
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content, language: "jsonl" }));
  }

  /** Deletes the recordings of this workspace and ends recording. */
  async deleteAll(): Promise<void> {
    await this.context.workspaceState.update(UNTIL, undefined);
    this.#tapes.clear();
    await this.work("deleteAll");
    void showInformation(vscode.l10n.t("Sluice: the recordings of this workspace are deleted."));
  }

  /** Works on the recordings of this workspace. Returns undefined if no folder is open. */
  async work<T>(recordings: RecordingTask): Promise<T | undefined> {
    const requests = await this.modules.requests();
    return this.#folder?.inTurn((folder) => requests.run<T>({ recordings }, folder));
  }
}
