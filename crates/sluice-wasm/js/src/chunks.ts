// AI SDK chunks as JSON text. A chunk is any JavaScript value: plain for nearly all of a stream, but files hold bytes,
// errors are Error objects, tool inputs may hold dates or big integers, and nothing stops anybody from a cycle. Whatever it
// is, this gives a JSON text and does not throw. It knows no chunk by name; that is the core's business.

/** Fields of an Error that say what happened. Others are left out: an API error also holds the whole request. */
const ERROR_FIELDS = [
  "name", "message", "code", "type", "status", "statusCode", "responseBody", "responseHeaders", "reason", "error",
  "data", "lastError", "cause",
] as const;
const MAX_DEPTH = 100;

export function chunkToJson(chunk: unknown): string {
  if (isFlat(chunk)) {
    return JSON.stringify(chunk);
  }
  try {
    return JSON.stringify(plain(chunk, [])) ?? "null";
  } catch {
    // A getter that throws, a proxy that refuses: nothing of it can be used.
    return "null";
  }
}

/** Deltas: a plain object of strings and numbers, which JSON.stringify writes by itself and fastest. */
function isFlat(chunk: unknown): boolean {
  if (typeof chunk !== "object" || chunk === null || Object.getPrototypeOf(chunk) !== Object.prototype) {
    return false;
  }
  for (const name in chunk) {
    switch (typeof (chunk as Record<string, unknown>)[name]) {
      case "string":
      case "boolean":
      case "number":
      case "undefined":
        break;
      default:
        return false;
    }
  }
  return true;
}

/** The same value in words that JSON has. `above` are the objects it lies in. */
function plain(value: unknown, above: object[]): unknown {
  if (typeof value === "bigint") {
    // A number that JSON can hold exactly stays one.
    return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  }
  if (typeof value !== "object" || value === null) {
    return typeof value === "function" || typeof value === "symbol" ? undefined : value;
  }
  if (above.includes(value) || above.length > MAX_DEPTH) {
    return undefined;
  }
  const bytes = bytesOf(value);
  if (bytes !== undefined) {
    return toBase64(bytes);
  }
  above.push(value);
  const result = plainObject(value, above);
  above.pop();
  return result;
}

function plainObject(value: object, above: object[]): unknown {
  if (Array.isArray(value)) {
    return value.map((element) => plain(element, above) ?? null);
  }
  const named = value as Record<string, unknown>;
  if (value instanceof Error || Object.prototype.toString.call(value) === "[object Error]") {
    return fieldsOf(named, ERROR_FIELDS, above);
  }
  if (typeof named["toJSON"] === "function") {
    return plain((named["toJSON"] as () => unknown)(), above);
  }
  if (value instanceof Map) {
    return fieldsOf(Object.fromEntries(value) as Record<string, unknown>, [...value.keys()].map(String), above);
  }
  if (value instanceof Set) {
    return [...value].map((element) => plain(element, above) ?? null);
  }
  // The SDK's file objects have getters, which are not the object's own: `base64` converts when it is asked.
  if (typeof named["mediaType"] === "string" && !Object.hasOwn(named, "base64") && "base64" in named) {
    return { mediaType: named["mediaType"], base64: named["base64"] };
  }
  // A file with its content in both forms needs to cross only once.
  const names = Object.keys(named);
  const once = typeof named["base64"] === "string" ? names.filter((name) => bytesOf(named[name]) === undefined) : names;
  return fieldsOf(named, once, above);
}

function fieldsOf(value: Record<string, unknown>, names: readonly string[], above: object[]): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const name of names) {
    const field = plain(value[name], above);
    if (field !== undefined) {
      // Not by assignment: a field may be called `__proto__`.
      Object.defineProperty(result, name, { value: field, enumerable: true, configurable: true, writable: true });
    }
  }
  return result;
}

function bytesOf(value: unknown): Uint8Array | undefined {
  if (ArrayBuffer.isView(value)) {
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
  return Object.prototype.toString.call(value) === "[object ArrayBuffer]" ? new Uint8Array(value as ArrayBuffer) : undefined;
}

export function toBase64(bytes: Uint8Array): string {
  let binary = "";
  // More arguments than this overflow the stack of some engines.
  for (let at = 0; at < bytes.length; at += 0x2000) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 0x2000));
  }
  return btoa(binary);
}

export function fromBase64(base64: string): Uint8Array<ArrayBuffer> {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) {
    bytes[at] = binary.charCodeAt(at);
  }
  return bytes;
}
