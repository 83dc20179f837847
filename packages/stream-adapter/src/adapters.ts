// The two adapters, one for each dialect.

import type { Outcome } from "../../loader/src/core.js";
import type { ResponsePart } from "./parts.js";
import { NO_USAGE, Session, type Settings, type StreamAdapterOptions, type StreamUsage } from "./session.js";
import type { ByteSource, Cancellation, ChunkSource } from "./source.js";
import { aiSdkCore, openResponsesCore } from "./wasm.js";

/** A source, a promise of one, or a function that makes one, whose signal is aborted when the caller cancels. */
export type Start<Source> = Source | PromiseLike<Source> | ((signal: AbortSignal) => Source | PromiseLike<Source>);

abstract class Adapter<Source> {
  readonly #settings: Settings;
  #outcome: Outcome | undefined;

  constructor(options: StreamAdapterOptions, dialect: Settings["dialect"], core: Settings["core"]) {
    this.#settings = {
      dialect,
      core,
      vscode: options.vscode,
      enableReasoning: options.enableReasoning ?? true,
      onUnknownChunk: options.onUnknownChunk ?? (() => {}),
      logger: options.logger ?? console,
      reportUsage: options.reportUsage ?? false,
      pace: options.pace ?? "immediate",
      prefixCallIds: options.prefixCallIds ?? dialect === "openResponses",
    };
  }

  /**
   * Reads the stream and reports its parts as they arrive. Resolves with the usage when the answer is complete or was
   * cancelled by `token`. Rejects with a short message if it failed or was cut off; parts that were already reported
   * stay valid.
   */
  async processStream<Part = ResponsePart>(
    stream: Start<Source>,
    progress: { report(part: Part): void },
    token?: Cancellation,
  ): Promise<StreamUsage> {
    const session = await this.#open(stream, token);
    try {
      const report = (part: object): void => progress.report(part as Part);
      await session.run(report);
    } finally {
      this.#close(session);
    }
    return this.getUsage();
  }

  /** Returns the same parts as an iterable. Leaving the loop early stops the stream. */
  async *adaptStream<Part = ResponsePart>(stream: Start<Source>, token?: Cancellation): AsyncGenerator<Part, void, undefined> {
    const session = await this.#open(stream, token);
    try {
      for (;;) {
        const parts: object[] = [];
        let failure: unknown;
        let goesOn = false;
        try {
          goesOn = await session.step((part) => parts.push(part));
        } catch (error) {
          // The parts before it are returned first.
          failure = error;
        }
        yield* parts as Part[];
        if (failure !== undefined) {
          throw failure;
        }
        if (!goesOn) {
          return;
        }
      }
    } finally {
      this.#close(session);
    }
  }

  /** The usage of the last stream, once it has ended. */
  getUsage(): StreamUsage {
    const usage = this.#outcome?.usage;
    return { ...NO_USAGE, inputTokens: usage?.input_tokens ?? null, outputTokens: usage?.output_tokens ?? null };
  }

  /** Everything that is known about how the last stream ended. */
  getOutcome(): Outcome | undefined {
    return this.#outcome;
  }

  async #open(stream: unknown, token: Cancellation | undefined): Promise<Session> {
    this.#outcome = undefined;
    return Session.open(stream, this.#settings, token);
  }

  #close(session: Session): void {
    session.close();
    this.#outcome = session.outcome;
  }
}

/** Converts Vercel AI SDK streams (`fullStream`, UI message streams; versions 4 to 7) to VS Code's parts. */
export class VSCodeStreamAdapter extends Adapter<ChunkSource> {
  constructor(options: StreamAdapterOptions = {}) {
    super(options, "aiSdk", aiSdkCore);
  }
}

/** Converts Open Responses event streams to VS Code's parts. */
export class OpenResponsesStreamAdapter extends Adapter<ByteSource> {
  constructor(options: StreamAdapterOptions = {}) {
    super(options, "openResponses", openResponsesCore);
  }
}
