// Unpacks LZMA (the format of `.lzma` files, without a marker at the end). It makes the module for the AI SDK about a fifth
// smaller than gzip does, and takes some ten milliseconds, which pass while the request is on its way.

// Where each kind of probability starts in the table.
const IS_MATCH = 0;
const IS_REP = 192;
const IS_REP_G0 = 204;
const IS_REP_G1 = 216;
const IS_REP_G2 = 228;
const IS_REP0_LONG = 240;
const POSITION_SLOT = 432;
const POSITION = 688;
const ALIGN = 802;
const LENGTH = 818;
const REP_LENGTH = 1332;
const LITERAL = 1846;
const HALF = 1024;

/** Returns what was packed. The input comes from our own build, so it isn't checked. */
export function unpack(input: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const view = new DataView(input.buffer, input.byteOffset);
  const properties = input[0]!;
  const literalContextBits = properties % 9;
  const literalPositionMask = (1 << (((properties / 9) | 0) % 5)) - 1;
  const positionMask = (1 << ((properties / 45) | 0)) - 1;
  const output = new Uint8Array(view.getUint32(5, true));
  const probabilities = new Uint16Array(LITERAL + ((0x300 * (literalPositionMask + 1)) << literalContextBits)).fill(HALF);

  let range = 0xffffffff;
  // A header of 13 bytes and a zero precede it.
  let code = view.getUint32(14);
  let at = 18;

  function bit(index: number): number {
    const probability = probabilities[index]!;
    const bound = (range >>> 11) * probability;
    let result = 0;
    if (code < bound) {
      range = bound;
      probabilities[index] = probability + ((2048 - probability) >> 5);
    } else {
      range -= bound;
      code -= bound;
      probabilities[index] = probability - (probability >> 5);
      result = 1;
    }
    if (range < 0x1000000) {
      range = (range << 8) >>> 0;
      code = ((code << 8) | input[at++]!) >>> 0;
    }
    return result;
  }

  /** Reads a number, the highest bit first. */
  function number(start: number, bits: number): number {
    let node = 1;
    for (let count = bits; count > 0; count--) node = (node << 1) | bit(start + node);
    return node - (1 << bits);
  }

  /** Reads a number, the lowest bit first. */
  function reversed(start: number, bits: number): number {
    let [node, value] = [1, 0];
    for (let count = 0; count < bits; count++) {
      const next = bit(start + node);
      node = (node << 1) | next;
      value |= next << count;
    }
    return value;
  }

  /** Reads bits that are as often 0 as 1. */
  function direct(bits: number): number {
    let value = 0;
    for (let count = bits; count > 0; count--) {
      range >>>= 1;
      const next = code < range ? 0 : 1;
      if (next === 1) code -= range;
      value = (value << 1) | next;
      if (range < 0x1000000) {
        range = (range << 8) >>> 0;
        code = ((code << 8) | input[at++]!) >>> 0;
      }
    }
    return value;
  }

  function length(start: number, positionState: number): number {
    if (bit(start) === 0) return 2 + number(start + 2 + (positionState << 3), 3);
    if (bit(start + 1) === 0) return 10 + number(start + 130 + (positionState << 3), 3);
    return 18 + number(start + 258, 8);
  }

  function distance(copied: number): number {
    const slot = number(POSITION_SLOT + (Math.min(copied - 2, 3) << 6), 6);
    if (slot < 4) return slot;
    const bits = (slot >> 1) - 1;
    const base = (2 | (slot & 1)) << bits;
    if (slot < 14) return base + reversed(POSITION + base - slot - 1, bits);
    return base + (direct(bits - 4) << 4) + reversed(ALIGN, 4);
  }

  let state = 0;
  // The last four distances.
  let [rep0, rep1, rep2, rep3] = [0, 0, 0, 0];
  for (let position = 0; position < output.length; ) {
    const positionState = position & positionMask;
    if (bit(IS_MATCH + (state << 4) + positionState) === 0) {
      const previous = position === 0 ? 0 : output[position - 1]!;
      const context = ((position & literalPositionMask) << literalContextBits) + (previous >> (8 - literalContextBits));
      const start = LITERAL + 0x300 * context;
      let symbol = 1;
      if (state >= 7) {
        // After a copy, the byte that would have followed predicts this one.
        let expected = output[position - rep0 - 1]!;
        while (symbol < 0x100) {
          const predicted = (expected >> 7) & 1;
          expected <<= 1;
          const next = bit(start + ((1 + predicted) << 8) + symbol);
          symbol = (symbol << 1) | next;
          if (next !== predicted) break;
        }
      }
      while (symbol < 0x100) symbol = (symbol << 1) | bit(start + symbol);
      output[position++] = symbol;
      state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
      continue;
    }
    let copied: number;
    if (bit(IS_REP + state) === 0) {
      [rep3, rep2, rep1] = [rep2, rep1, rep0];
      copied = length(LENGTH, positionState);
      rep0 = distance(copied);
      state = state < 7 ? 7 : 10;
    } else {
      if (bit(IS_REP_G0 + state) === 0) {
        if (bit(IS_REP0_LONG + (state << 4) + positionState) === 0) {
          output[position] = output[position - rep0 - 1]!;
          position++;
          state = state < 7 ? 9 : 11;
          continue;
        }
      } else if (bit(IS_REP_G1 + state) === 0) {
        [rep0, rep1] = [rep1, rep0];
      } else if (bit(IS_REP_G2 + state) === 0) {
        [rep0, rep1, rep2] = [rep2, rep0, rep1];
      } else {
        [rep0, rep1, rep2, rep3] = [rep3, rep0, rep1, rep2];
      }
      copied = length(REP_LENGTH, positionState);
      state = state < 7 ? 8 : 11;
    }
    for (const end = Math.min(position + copied, output.length); position < end; position++) {
      output[position] = output[position - rep0 - 1]!;
    }
  }
  return output;
}
