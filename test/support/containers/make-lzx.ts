/** LZX data with Huffman codes that are chosen by hand, so that all parts of the format occur. */

/** A literal, or a match: a position slot, the bits of the offset below the base of the slot, and a length. */
export type Token = number | readonly [slot: number, extra: number, length: number];

export class LzxWriter {
  readonly #bytes: number[] = [];
  #word = 0;
  #bits = 0;
  #before: readonly (readonly number[])[] = [];

  /** `callsSize` turns on the translation of calls. */
  constructor(callsSize = 0) {
    this.#write(callsSize === 0 ? 0 : 1, 1);
    if (callsSize > 0) {
      this.#write(callsSize >>> 16, 16);
      this.#write(callsSize & 0xffff, 16);
    }
  }

  /** Matches have slots 0 to 3 and lengths 2, or slots 8 and 10 and lengths 9 and 10. */
  block(tokens: readonly Token[], size: number, isAligned = false): this {
    this.#header(isAligned ? 2 : 1, size);
    if (isAligned) for (let symbol = 0; symbol < 8; symbol += 1) this.#write(3, 3);
    const matches = [0, 1, 2, 3].map((slot) => 256 + slot * 8).concat([8, 10].map((slot) => 256 + slot * 8 + 7));
    const main = Array.from({ length: 256 + 30 * 8 }, (_, symbol): number => (symbol < 256 ? 9 : 0));
    for (const [index, symbol] of matches.entries()) main[symbol] = index < 2 ? 3 : 4;
    const lengths = Array.from({ length: 249 }, (_, symbol) => (symbol < 2 ? 1 : 0));
    const [literalsBefore = [], matchesBefore = [], lengthsBefore = []] = this.#before;
    this.#before = [main.slice(0, 256), main.slice(256), lengths];
    this.#lengths(main.slice(0, 256), literalsBefore);
    this.#lengths(main.slice(256), matchesBefore);
    this.#lengths(lengths, lengthsBefore);
    const mainCodes = codesOf(main);
    for (const token of tokens) {
      if (typeof token === 'number') this.#write(...(mainCodes[token] ?? [0, 0]));
      else {
        const [slot, extra, length] = token;
        this.#write(...(mainCodes[256 + slot * 8 + Math.min(7, length - 2)] ?? [0, 0]));
        if (length >= 9) this.#write(length - 9, 1);
        const bits = slot < 4 ? 0 : (slot >> 1) - 1;
        // The codes of the aligned offsets are the numbers themselves, so that nothing changes.
        this.#write(extra, bits);
      }
    }
    return this;
  }

  uncompressed(bytes: Uint8Array, recent: readonly [number, number, number] = [1, 1, 1]): this {
    this.#header(3, bytes.length);
    this.#write(0, 16 - this.#bits);
    const offsets = Buffer.from(Uint32Array.from(recent).buffer);
    this.#bytes.push(...offsets, ...bytes, ...(bytes.length % 2 === 0 ? [] : [0]));
    return this;
  }

  frame(): Buffer {
    if (this.#bits > 0) this.#write(0, 16 - this.#bits);
    return Buffer.from(this.#bytes.splice(0));
  }

  #header(type: number, size: number): void {
    this.#write(type, 3);
    this.#write(size >> 8, 16);
    this.#write(size & 0xff, 8);
  }

  /** Runs of zeros, and runs of equal lengths, have codes of their own. */
  #lengths(lengths: readonly number[], before: readonly number[]): void {
    const own = Array.from({ length: 20 }, (_, symbol) => (symbol < 12 ? 4 : 5));
    const codes = codesOf(own);
    for (const length of own) this.#write(length, 4);
    const symbol = (value: number) => this.#write(...(codes[value] ?? [0, 0]));
    for (let at = 0; at < lengths.length; ) {
      const length = lengths[at] ?? 0;
      const difference = ((before[at] ?? 0) - length + 17) % 17;
      const end = lengths.findIndex((other, index) => index > at && other !== length);
      const run = Math.min((end < 0 ? lengths.length : end) - at, 51);
      if (length === 0 && run >= 20) {
        symbol(18);
        this.#write(run - 20, 5);
        at += run;
      } else if (length === 0 && run >= 4) {
        const count = Math.min(run, 19);
        symbol(17);
        this.#write(count - 4, 4);
        at += count;
      } else if (run >= 5) {
        symbol(19);
        this.#write(1, 1);
        symbol(difference);
        at += 5;
      } else {
        symbol(difference);
        at += 1;
      }
    }
  }

  #write(value: number, count: number): void {
    for (let bit = count - 1; bit >= 0; bit -= 1) {
      this.#word = this.#word * 2 + ((value >> bit) & 1);
      this.#bits += 1;
      if (this.#bits < 16) continue;
      this.#bytes.push(this.#word & 0xff, this.#word >> 8);
      this.#word = 0;
      this.#bits = 0;
    }
  }
}

function codesOf(lengths: readonly number[]): readonly (readonly [code: number, length: number])[] {
  const codes = lengths.map((): [number, number] => [0, 0]);
  let code = 0;
  for (let length = 1; length <= 16; length += 1) {
    for (const [symbol, own] of lengths.entries()) if (own === length) codes[symbol] = [code++, length];
    code *= 2;
  }
  return codes;
}
