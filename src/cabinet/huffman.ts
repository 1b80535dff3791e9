import { malformed } from './errors.ts';

const LOOKUP_BITS = 10;
const LONGEST_CODE = 16;

export interface HuffmanCode {
  /** Maps the next `LOOKUP_BITS` bits to `symbol * 32 + length`, or to 0 if the code is longer. */
  readonly lookup: Uint32Array;
  readonly counts: Uint16Array;
  readonly symbols: Uint16Array;
}

/** Numbers codes by their lengths, and then by their symbols (MS-PATCH, 2.4). Accepts a code without symbols. */
export function huffmanCode(lengths: Uint8Array): HuffmanCode {
  const counts = new Uint16Array(LONGEST_CODE + 1);
  for (const length of lengths) counts[length] = (counts[length] ?? 0) + 1;
  const used = lengths.length - (counts[0] ?? 0);
  counts[0] = 0;
  const next: number[] = [];
  let [start, left] = [0, 1];
  for (const count of counts) {
    next.push(start);
    start += count;
    left = next.length === 1 ? 1 : left * 2 - count;
    if (left < 0) throw malformed('a Huffman code has too many symbols');
  }
  if (left > 0 && used > 0) throw malformed('a Huffman code is incomplete');
  const symbols = new Uint16Array(used);
  for (const [symbol, length] of lengths.entries())
    if (length > 0) {
      symbols[next[length] ?? 0] = symbol;
      next[length] = (next[length] ?? 0) + 1;
    }
  return { lookup: lookupOf(counts, symbols), counts, symbols };
}

function lookupOf(counts: Uint16Array, symbols: Uint16Array): Uint32Array {
  const lookup = new Uint32Array(1 << LOOKUP_BITS);
  let [at, index] = [0, 0];
  for (let length = 1; length <= LOOKUP_BITS; length += 1) {
    for (let count = counts[length] ?? 0; count > 0; count -= 1) {
      const end = at + (1 << (LOOKUP_BITS - length));
      lookup.fill((symbols[index] ?? 0) * 32 + length, at, end);
      index += 1;
      at = end;
    }
  }
  return lookup;
}

/**
 * Reads bits from 16-bit words, beginning with the highest bit of each word. Returns zeros for a few bits after the
 * end, like other readers.
 */
export class BitReader {
  readonly #data: Buffer;
  #position: number;
  /** The next bits, with the first one in the highest position. After `#fill`, at least 17 bits are valid. */
  #buffer = 0;
  #bits = 0;

  constructor(data: Buffer, position: number) {
    this.#data = data;
    this.#position = position;
  }

  /** Reads up to 17 bits. */
  read(count: number): number {
    if (count === 0) return 0;
    this.#fill();
    const value = this.#buffer >>> (32 - count);
    this.#drop(count);
    return value;
  }

  symbol({ lookup, counts, symbols }: HuffmanCode): number {
    this.#fill();
    const found = lookup[this.#buffer >>> (32 - LOOKUP_BITS)] ?? 0;
    if (found !== 0) {
      this.#drop(found & 31);
      return found >>> 5;
    }
    let [code, first, index] = [0, 0, 0];
    for (let length = 1; length <= LONGEST_CODE; length += 1) {
      code = code * 2 + ((this.#buffer >>> (32 - length)) & 1);
      const count = counts[length] ?? 0;
      if (code - first < count) {
        this.#drop(length);
        return symbols[index + code - first] ?? 0;
      }
      index += count;
      first = (first + count) * 2;
    }
    throw malformed('a Huffman code without symbols is used');
  }

  /** Skips 1 to 16 bits, and returns the offset of the next word. */
  align(): number {
    this.#fill();
    this.#drop(this.#bits % 16 === 0 ? 16 : this.#bits % 16);
    return this.#position - this.#bits / 8;
  }

  #fill(): void {
    while (this.#bits <= 16) {
      const at = this.#position;
      if (at > this.#data.length + 4) throw malformed('a compressed block ends too early');
      this.#buffer |= ((this.#data[at] ?? 0) | ((this.#data[at + 1] ?? 0) << 8)) << (16 - this.#bits);
      this.#position += 2;
      this.#bits += 16;
    }
  }

  #drop(count: number): void {
    // In JavaScript, a shift by 32 bits changes nothing.
    this.#buffer = count === 32 ? 0 : this.#buffer << count;
    this.#bits -= count;
  }
}
