// Reads a source item by item: a Response, a ReadableStream, or anything that can be iterated. Reading stops
// immediately when the caller cancels, and the source is always notified when reading stops.

/** A `vscode.CancellationToken` or an AbortSignal. */
export type Cancellation =
  | { readonly isCancellationRequested: boolean; onCancellationRequested(listener: () => void): { dispose(): void } }
  | AbortSignal;

type Body = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>;

/**
 * A `Response`, its body, or any chunks of one. Events that are already parsed (openai SDK) work too, and so does a whole
 * response that wasn't streamed, as an object or as JSON.
 */
export type ByteSource = Response | Body | AsyncIterable<object> | string | { readonly object: "response" };

/** AI SDK chunks: `result.fullStream`, `result.toUIMessageStream()`, the result itself, or a UI message stream's bytes. */
export type ChunkSource =
  | AsyncIterable<unknown>
  | Iterable<unknown>
  | ReadableStream<unknown>
  | Response
  | { readonly fullStream: AsyncIterable<unknown> };

export interface Items {
  next(): Promise<Item>;
  /** Stops reading and releases the source. */
  stop(): void;
  /** Whether a pending `next` ends when `stop` is called. */
  readonly stopsWaiting: boolean;
}

export interface Item {
  readonly done?: boolean | undefined;
  readonly value?: unknown;
}

export function itemsOf(source: unknown): Items {
  const object = (typeof source === "object" && source !== null ? source : {}) as {
    fullStream?: unknown;
    getReader?: () => ReadableStreamDefaultReader<unknown>;
    [Symbol.asyncIterator]?: () => AsyncIterator<unknown>;
    [Symbol.iterator]?: () => Iterator<unknown>;
  };
  if (typeof object.getReader === "function") {
    const reader = object.getReader();
    return {
      next: () => reader.read(),
      stop: () => quietly(() => reader.cancel()),
      stopsWaiting: true,
    };
  }
  const iterator = object[Symbol.asyncIterator]?.() ?? object[Symbol.iterator]?.();
  if (iterator !== undefined) {
    return {
      next: async () => iterator.next(),
      // A generator that is waiting for something only notices this afterwards.
      stop: () => quietly(() => iterator.return?.()),
      stopsWaiting: false,
    };
  }
  if (object.fullStream !== undefined && object.fullStream !== source) {
    return itemsOf(object.fullStream);
  }
  if (typeof source === "string") {
    return itemsOf([source]);
  }
  throw new TypeError("Not a stream: give a Response, a ReadableStream or something to iterate over.");
}

/** Calls foreign code. Nothing is thrown here, whether it throws immediately or returns a promise that rejects. */
export function quietly(call: () => unknown, failed: (error: unknown) => void = () => {}): void {
  try {
    const result = call();
    if (result instanceof Promise) {
      result.catch(failed);
    }
  } catch (error) {
    failed(error);
  }
}

/** Returns the result of a promise, or `fallback` if the caller cancels first. */
export function unlessCancelled<T>(promise: T | PromiseLike<T>, cancellation: Cancellation | undefined, fallback: T): Promise<T> {
  if (cancellation === undefined) {
    return Promise.resolve(promise);
  }
  return new Promise<T>((resolve, reject) => {
    const stopListening = onCancel(cancellation, () => resolve(fallback));
    Promise.resolve(promise).then(resolve, reject).finally(stopListening);
  });
}

/**
 * Calls `listener` once when the caller cancels, even if that has already happened. Returns a function that stops
 * listening.
 */
export function onCancel(cancellation: Cancellation | undefined, cancel: () => void): () => void {
  if (cancellation === undefined) {
    return () => {};
  }
  if (isCancelled(cancellation)) {
    cancel();
    return () => {};
  }
  if ("onCancellationRequested" in cancellation) {
    const listener = cancellation.onCancellationRequested(cancel);
    return () => listener.dispose();
  }
  cancellation.addEventListener("abort", cancel);
  return () => cancellation.removeEventListener("abort", cancel);
}

export function isCancelled(cancellation: Cancellation | undefined): boolean {
  if (cancellation === undefined) {
    return false;
  }
  return "aborted" in cancellation ? cancellation.aborted : cancellation.isCancellationRequested;
}
