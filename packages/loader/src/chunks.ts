// Converts AI SDK chunks to JSON. A chunk can be any JavaScript value: nearly all are plain objects, but files contain
// bytes, errors are Error objects, tool inputs may contain dates or big integers, and a chunk may have a cycle, a
// getter that throws or an array with four billion holes. Whatever it is, `chunkToJson` doesn't throw, does a bounded
// amount of work, and never returns another value than the chunk has: a field that can't be expressed faithfully
// becomes `[]`, which the core treats as absent, and never as the arguments of a call. It knows no chunk by name; that
// is up to the core.

import { toBase64 } from "./base64.js";

/** The JSON text of a chunk, and what is wrong with it, in words that contain nothing of the chunk's content. */
export interface ChunkText {
  /** `undefined` if the chunk can't be read at all. */
  readonly json: string | undefined;
  readonly problem?: string;
}

/**
 * The fields of an Error that say what happened. Others are left out, because an API error also contains the whole
 * request.
 */
const ERROR_FIELDS = [
  "name",
  "message",
  "code",
  "type",
  "status",
  "statusCode",
  "responseBody",
  "responseHeaders",
  "reason",
  "error",
  "data",
  "lastError",
  "cause",
] as const;
const MAX_DEPTH = 100;
/** The maximum size of a chunk in characters of JSON, which is as much as the core accepts for one event. */
const MAX_SIZE = 64 << 20;
/** The cost of an object or a list in addition to its content: the work of visiting it. */
const VISIT = 128;

export function chunkToJson(chunk: unknown): ChunkText {
  try {
    const flat = flatCopy(chunk);
    if (flat !== undefined) {
      return withinSize(JSON.stringify(flat));
    }
    return new Writer().write(chunk);
  } catch (error) {
    return { json: undefined, problem: error instanceof Unreadable ? error.message : "it cannot be read" };
  }
}

/** The reason may be logged. */
class Unreadable extends Error {}

function withinSize(json: string, problem?: string): ChunkText {
  if (json.length > MAX_SIZE) {
    throw new Unreadable("it is too large");
  }
  return problem === undefined ? { json } : { json, problem };
}

/**
 * Copies a plain object of strings and numbers, such as a delta, for JSON.stringify. Each field is read once, because a
 * getter may return something else the next time.
 */
function flatCopy(chunk: unknown): object | undefined {
  if (typeof chunk !== "object" || chunk === null || Object.getPrototypeOf(chunk) !== Object.prototype) {
    return undefined;
  }
  const copy: Record<string, unknown> = {};
  for (const name in chunk) {
    const value = (chunk as Record<string, unknown>)[name];
    switch (typeof value) {
      case "string":
      case "boolean":
      case "number":
      case "undefined":
        copy[name] = value;
        break;
      default:
        return undefined;
    }
  }
  // It may have fields that aren't listed.
  return "type" in copy || (chunk as { type?: unknown }).type === undefined ? copy : undefined;
}

/** Writes one chunk, and counts the cost. */
class Writer {
  #size = 0;
  /** The objects around the value that is being written. */
  readonly #above: object[] = [];

  write(chunk: unknown): ChunkText {
    if (typeof chunk !== "object" || chunk === null || Array.isArray(chunk)) {
      // This isn't a chunk, nor anything else that the core could use.
      return { json: "null" };
    }
    const fields: Record<string, unknown> = {};
    let problem: string | undefined;
    for (const [name, value] of this.#topFields(chunk)) {
      let field: unknown;
      try {
        field = this.#plain(value);
      } catch (error) {
        this.#above.length = 0;
        const reason = error instanceof Unreadable ? error.message : "it cannot be read";
        problem ??= /^\w{1,40}$/.test(name) ? `its field ${name}: ${reason}` : `one of its fields: ${reason}`;
        field = [];
      }
      set(fields, name, field);
    }
    return withinSize(JSON.stringify(fields), problem);
  }

  /** Returns the names and values of the chunk's own fields. If reading a field throws, the chunk is lost. */
  #topFields(chunk: object): [string, unknown][] {
    const named = chunk as Record<string, unknown>;
    if (typeof named["toJSON"] === "function") {
      const other: unknown = (named["toJSON"] as () => unknown)();
      return typeof other === "object" && other !== null ? Object.entries(other) : [];
    }
    if (isError(chunk)) {
      return ERROR_FIELDS.map((name) => [name, named[name]]);
    }
    if (Object.hasOwn(named, "type") || named["type"] === undefined) {
      return Object.entries(named);
    }
    // This is an instance of a class, whose fields may be getters.
    const names = new Set<string>();
    for (let at: object | null = chunk; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at) as object | null) {
      Object.getOwnPropertyNames(at).forEach((name) => names.add(name));
      this.#spend(VISIT * (names.size + 1));
    }
    if (!names.has("type")) {
      throw new Unreadable("it does not say which fields it has");
    }
    return [...names].map((name): [string, unknown] => [name, named[name]]).filter(([, value]) => typeof value !== "function");
  }

  #spend(cost: number): void {
    this.#size += cost;
    if (this.#size > MAX_SIZE) {
      throw new Unreadable("it is too large");
    }
  }

  /** Returns the same value in terms of JSON. */
  #plain(value: unknown): unknown {
    switch (typeof value) {
      case "string":
        this.#spend(value.length + 16);
        return value;
      case "bigint":
        // A number that JSON can express exactly is unchanged.
        return Number.isSafeInteger(Number(value)) ? Number(value) : this.#plain(value.toString());
      case "function":
      case "symbol":
        return undefined;
      case "object":
        return value === null ? null : this.#object(value);
      default:
        this.#spend(4);
        return value;
    }
  }

  #object(value: object): unknown {
    this.#spend(VISIT);
    if (this.#above.includes(value)) {
      throw new Unreadable("it contains itself");
    }
    if (this.#above.length >= MAX_DEPTH) {
      throw new Unreadable(`it is nested more than ${MAX_DEPTH} deep`);
    }
    const bytes = bytesOf(value);
    if (bytes !== undefined) {
      this.#spend(Math.ceil(bytes.length / 3) * 4);
      return toBase64(bytes);
    }
    this.#above.push(value);
    const result = this.#content(value);
    this.#above.pop();
    return result;
  }

  #content(value: object): unknown {
    if (Array.isArray(value)) {
      return this.#list(value.length, (at) => value[at] as unknown);
    }
    const named = value as Record<string, unknown>;
    if (isError(value)) {
      return this.#error(named);
    }
    if (typeof named["toJSON"] === "function") {
      return this.#plain((named["toJSON"] as () => unknown)());
    }
    if (value instanceof String || value instanceof Number || value instanceof Boolean) {
      return this.#plain(value.valueOf());
    }
    if (value instanceof Map) {
      const fields: Record<string, unknown> = {};
      // The iterator isn't used, because it may have been replaced by an endless one.
      Map.prototype.forEach.call(value, (field: unknown, key: unknown) => {
        if (typeof key !== "string" && typeof key !== "number") {
          throw new Unreadable("it has a map whose keys are not texts");
        }
        set(fields, this.#plain(String(key)) as string, this.#plain(field));
      });
      return fields;
    }
    if (value instanceof Set) {
      const elements: unknown[] = [];
      Set.prototype.forEach.call(value, (element: unknown) => {
        this.#spend(4);
        elements.push(element);
      });
      return this.#list(elements.length, (at) => elements[at]);
    }
    // The SDK's file objects have inherited getters; `base64` converts on access.
    if (typeof named["mediaType"] === "string" && !Object.hasOwn(named, "base64") && "base64" in named) {
      return { mediaType: this.#plain(named["mediaType"]), base64: this.#plain(named["base64"]) };
    }
    const fields: Record<string, unknown> = {};
    const hasText = typeof named["base64"] === "string";
    for (const name of Object.keys(named)) {
      const field = named[name];
      // If a file has its content in both forms, only one is passed on.
      if (!hasText || bytesOf(field) === undefined) {
        set(fields, this.#plain(name) as string, this.#plain(field));
      }
    }
    return fields;
  }

  #list(length: number, element: (at: number) => unknown): unknown[] {
    // This is checked before the first element, because an array may have nothing but a length, and a proxy's length
    // may be anything.
    if (!Number.isSafeInteger(length) || length < 0) {
      throw new Unreadable("it has a list without a length");
    }
    this.#spend(length * 4);
    const result: unknown[] = [];
    for (let at = 0; at < length; at++) {
      result.push(this.#plain(element(at)) ?? null);
    }
    return result;
  }

  /** Returns the readable parts of an error. People see it, so part of it is better than nothing. */
  #error(error: Record<string, unknown>): Record<string, unknown> {
    const fields: Record<string, unknown> = {};
    const depth = this.#above.length;
    for (const name of ERROR_FIELDS) {
      try {
        set(fields, name, this.#plain(error[name]));
      } catch {
        this.#above.length = depth;
      }
    }
    return fields;
  }
}

function isError(value: object): boolean {
  return value instanceof Error || Object.prototype.toString.call(value) === "[object Error]";
}

/** An assignment wouldn't work for a field called `__proto__`. */
function set(fields: Record<string, unknown>, name: string, value: unknown): void {
  if (value !== undefined) {
    Object.defineProperty(fields, name, { value, enumerable: true, configurable: true, writable: true });
  }
}

/**
 * Returns the bytes of an array buffer or of a view of one, from any realm. Returns `undefined` for everything else,
 * whatever it claims to be.
 */
export function bytesOf(value: unknown): Uint8Array | undefined {
  if (ArrayBuffer.isView(value)) {
    return value instanceof Uint8Array ? value : new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
  try {
    if (Object.prototype.toString.call(value) !== "[object ArrayBuffer]") {
      return undefined;
    }
    byteLength.call(value);
    return new Uint8Array(value as ArrayBuffer);
  } catch {
    // This is a proxy that throws, or something that only claims to be a buffer.
    return undefined;
  }
}

const byteLength = Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, "byteLength")!.get as (this: unknown) => number;
