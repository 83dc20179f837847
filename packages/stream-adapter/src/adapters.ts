// The two adapters: the same reading, in two dialects.

import type { Outcome } from "../../loader/src/core.js";
import type { ResponsePart } from "./parts.js";
import { NO_USAGE, Session, type Settings, type StreamAdapterOptions, type StreamUsage } from "./session.js";
import type { ByteSource, Cancellation, ChunkSource } from "./source.js";

abstract class Adapter<Source> {
  readonly #settings: Settings;
  #outcome: Outcome | undefined;

  constructor(options: StreamAdapterOptions, dialect: Settings["dialect"]) {
    this.#settings = {
      dialect,
      vscode: options.vscode,
      enableReasoning: options.enableReasoning ?? true,
      onUnknownChunk: options.onUnknownChunk ?? (() => {}),
      logger: options.logger ?? console,
      reportUsage: options.reportUsage ?? false,
      prefixCallIds: options.prefixCallIds ?? dialect === "openResponses",
    };
  }

  /**
   * Reads the stream and reports its parts as they come. Resolves with the usage when the answer is complete, or was cancelled by
   * `token`; rejects with a short message when it failed or was cut off. Parts that were reported before stay valid.
   */
  async processStream<Part = ResponsePart>(
    stream: Source | PromiseLike<Source>,
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

  /** The same as parts to iterate over. Leaving the loop early stops the stream. */
  async *adaptStream<Part = ResponsePart>(
    stream: Source | PromiseLike<Source>,
    token?: Cancellation,
  ): AsyncGenerator<Part, void, undefined> {
    const session = await this.#open(stream, token);
    try {
      for (;;) {
        const parts: object[] = [];
        let failure: unknown;
        let goesOn = false;
        try {
          goesOn = await session.step((part) => parts.push(part));
        } catch (error) {
          // What came before it is given first.
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

  /** What the last stream used, once it has ended. */
  getUsage(): StreamUsage {
    const usage = this.#outcome?.usage;
    return { ...NO_USAGE, inputTokens: usage?.input_tokens ?? null, outputTokens: usage?.output_tokens ?? null };
  }

  /** All that is known about how the last stream ended. */
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

/** Vercel AI SDK streams (`fullStream`, UI message streams; versions 4 to 7) as VS Code's parts. */
export class VSCodeStreamAdapter extends Adapter<ChunkSource> {
  constructor(options: StreamAdapterOptions = {}) {
    super(options, "aiSdk");
  }
}

/** Open Responses event streams as VS Code's parts. */
export class OpenResponsesStreamAdapter extends Adapter<ByteSource> {
  constructor(options: StreamAdapterOptions = {}) {
    super(options, "openResponses");
  }
}
