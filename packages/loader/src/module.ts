// The boundary to the WebAssembly modules, the same for all of them. How data crosses is documented in
// crates/sluice-bridge/src/lib.rs.

import { ANSWER } from "./numbers.js";

/** The core was used incorrectly, or it crashed. After a crash, the next call gets a new instance. */
export class CoreError extends Error {
  override readonly name = "CoreError";
}

/** A question couldn't be answered. The message says what is wrong with it, for developers. */
export class QuestionError extends Error {
  override readonly name = "QuestionError";
}

/** What every module exports. */
export interface ModuleExports {
  readonly memory: WebAssembly.Memory;
  header(): number;
  input_window(length: number): number;
}

// The fields of the header.
const ROWS = 0;
const TABLE = 1;
const ARENA = 2;
const ARENA_BYTES = 3;
const EXTRA = 4;

const SMALLEST_WINDOW = 64 * 1024;
/** A larger window is replaced before its next use, because one long text would occupy memory forever. */
const LARGEST_WINDOW = 4 * 1024 * 1024;
const LONG_TEXT = 1 << 20;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** What `text` needs of Node's buffers. This method isn't documented, so it may be missing. */
interface Utf8Source {
  utf8Slice?(start: number, end: number): string;
}

/** Web hosts have no buffers. */
const { Buffer: NodeBuffer } = globalThis as { Buffer?: { from(memory: ArrayBuffer): Utf8Source } };

/** Compiles a module, unless it is compiled already. */
export async function compile(wasm: BufferSource | WebAssembly.Module): Promise<WebAssembly.Module> {
  return wasm instanceof WebAssembly.Module ? wasm : WebAssembly.compile(wasm);
}

/** One instance of a module, with its window and the views onto its memory. */
export class Instance<Exports extends ModuleExports> {
  readonly exports: Exports;
  /** A trap leaves the memory in an unknown state, so a crashed instance must not be used again. */
  crashed = false;
  /** The address of the header, in 32-bit words. */
  readonly #header: number;
  #bytes: Uint8Array<ArrayBuffer>;
  #words: Uint32Array<ArrayBuffer>;
  #utf8: Utf8Source | undefined;
  #windowAddress = 0;
  #windowLength = 0;

  constructor(module: WebAssembly.Module) {
    this.exports = new WebAssembly.Instance(module).exports as unknown as Exports;
    this.#header = this.run((exports) => exports.header()) >>> 2;
    this.#bytes = new Uint8Array(this.exports.memory.buffer as ArrayBuffer);
    this.#words = new Uint32Array(this.exports.memory.buffer as ArrayBuffer);
    this.#utf8 = NodeBuffer?.from(this.exports.memory.buffer as ArrayBuffer);
  }

  get memoryBytes(): number {
    return this.exports.memory.buffer.byteLength;
  }

  /** Runs calls into the module. If one traps, the instance is lost. */
  run<T>(calls: (exports: Exports) => T): T {
    if (this.crashed) {
      throw new CoreError("the core crashed earlier");
    }
    try {
      return calls(this.exports);
    } catch (cause) {
      this.crashed = true;
      throw new CoreError("the core crashed", { cause });
    }
  }

  /** Asks a question, which is JSON, possibly in several pieces, and returns the answer. */
  ask<T>(question: string | readonly (string | Uint8Array)[], ask: (exports: Exports, length: number) => void): T {
    this.run((exports) => ask(exports, typeof question === "string" ? this.writeText(question) : this.writeAll(question)));
    const text = this.text();
    if (this.kind(0) !== ANSWER) {
      throw new QuestionError(text);
    }
    return JSON.parse(text) as T;
  }

  /** Writes bytes into the window and returns their number. */
  writeBytes(bytes: Uint8Array): number {
    this.#makeRoom(bytes.length);
    this.#bytes.set(bytes, this.#windowAddress);
    return bytes.length;
  }

  /** Writes several pieces of text and bytes into the window, one after the other, and returns their length. */
  writeAll(pieces: readonly (string | Uint8Array)[]): number {
    const bytes = pieces.map((piece) => (typeof piece === "string" ? encoder.encode(piece) : piece));
    const length = bytes.reduce((sum, piece) => sum + piece.length, 0);
    this.#makeRoom(length);
    let at = this.#windowAddress;
    for (const piece of bytes) {
      this.#bytes.set(piece, at);
      at += piece.length;
    }
    return length;
  }

  /** Writes text into the window as UTF-8 and returns its length. Unpaired surrogates become U+FFFD. */
  writeText(text: string): number {
    const units = text.length;
    // Short keys and values of tool schemas are encoded faster here than by a call to the encoder.
    if (units <= 48) {
      this.#makeRoom(units);
      const bytes = this.#bytes;
      const start = this.#windowAddress;
      let at = 0;
      for (; at < units; at++) {
        const unit = text.charCodeAt(at);
        if (unit > 0x7f) {
          break;
        }
        bytes[start + at] = unit;
      }
      if (at === units) {
        return units;
      }
    }
    // A UTF-16 unit takes at most three bytes. A long text is measured first, because that much space may be too much.
    if (units > LONG_TEXT) {
      return this.writeBytes(encoder.encode(text));
    }
    this.#makeRoom(units * 3);
    const window = this.#bytes.subarray(this.#windowAddress, this.#windowAddress + this.#windowLength);
    return encoder.encodeInto(text, window).written;
  }

  /** The number of rows in the last answer. */
  get rows(): number {
    this.#refreshViews();
    return this.#words[this.#header + ROWS]!;
  }

  /** The kind of a row. */
  kind(row: number): number {
    return this.#words[(this.#words[this.#header + TABLE]! >>> 2) + row * 3]!;
  }

  /** The length of a row in UTF-16 units. */
  units(row: number): number {
    return this.#words[(this.#words[this.#header + TABLE]! >>> 2) + row * 3 + 2]!;
  }

  /** One of the two numbers that come with every answer. */
  extra(index: 0 | 1): number {
    this.#refreshViews();
    return this.#words[this.#header + EXTRA + index]!;
  }

  /** All rows of the last answer as one text. */
  text(): string {
    this.#refreshViews();
    const address = this.#words[this.#header + ARENA]!;
    const end = address + this.#words[this.#header + ARENA_BYTES]!;
    // Text of 20 characters takes a buffer 70 ns and a decoder 150 ns.
    return this.#utf8?.utf8Slice?.(address, end) ?? decoder.decode(this.#bytes.subarray(address, end));
  }

  /** Returns a copy of the last answer as bytes. */
  bytes(): Uint8Array<ArrayBuffer> {
    this.#refreshViews();
    const address = this.#words[this.#header + ARENA]!;
    return this.#bytes.slice(address, address + this.#words[this.#header + ARENA_BYTES]!);
  }

  /** Returns a copy of each row of the last answer. */
  rowsOfBytes(): Uint8Array<ArrayBuffer>[] {
    const rows = this.rows;
    const table = this.#words[this.#header + TABLE]! >>> 2;
    let address = this.#words[this.#header + ARENA]!;
    return Array.from({ length: rows }, (_, row) => {
      const length = this.#words[table + row * 3 + 1]!;
      address += length;
      return this.#bytes.slice(address - length, address);
    });
  }

  #makeRoom(length: number): void {
    if (length > this.#windowLength || (this.#windowLength > LARGEST_WINDOW && length <= SMALLEST_WINDOW)) {
      this.#reserve(length);
    }
    this.#refreshViews();
  }

  #reserve(length: number): void {
    this.#windowLength = Math.max(length, SMALLEST_WINDOW);
    this.#windowAddress = this.exports.input_window(this.#windowLength) >>> 0;
  }

  /** Memory that has grown is a new buffer, and views of the old one are empty. */
  #refreshViews(): void {
    if (this.#bytes.length === 0) {
      this.#bytes = new Uint8Array(this.exports.memory.buffer as ArrayBuffer);
      this.#words = new Uint32Array(this.exports.memory.buffer as ArrayBuffer);
      this.#utf8 = NodeBuffer?.from(this.exports.memory.buffer as ArrayBuffer);
    }
  }
}
