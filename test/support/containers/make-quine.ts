/** A gzip file that contains itself, built as Russ Cox describes in "Zip Files All The Way Down" (2010). */

import { crc32 } from 'node:zlib';

/** A stored block with this number of units of 5 bytes. Its header is one unit. */
const literal = (units: number): Buffer => Buffer.from([0, units * 5, 0, ~(units * 5) & 0xff, 0xff]);
const MATCH = '000100001000110';
/** A block that repeats the last 4 units: two matches of length 10 and distance 20, and the end of the block. */
const REPEAT = fromBits(`010${MATCH}${MATCH}0000000`);
/** 15 bytes, with the file name `self`. */
const HEAD = Buffer.from('1f8b080800000000000373656c6600', 'hex');

export function makeQuine(): Buffer {
  const [none, one, four] = [literal(0), literal(1), literal(4)];
  const withChecksum = (checksum: number): Buffer => {
    const tail = Buffer.from('000000ffff03000000000000000000', 'hex');
    const parts = [HEAD, four, HEAD, four, REPEAT, one, REPEAT, one, one, four, REPEAT, one, one, four, REPEAT, four];
    parts.push(REPEAT, four, REPEAT, four, REPEAT, four, REPEAT, none, none, four, REPEAT, none, none, four);
    tail.writeUInt32LE(checksum >>> 0, 7);
    tail.writeUInt32LE(parts.reduce((sum, part) => sum + part.length, 0) + 2 * (5 + tail.length), 11);
    return Buffer.concat([...parts, REPEAT, tail, REPEAT, tail]);
  };
  return withChecksum(fixedPoint((checksum) => crc32(withChecksum(checksum))));
}

/** Returns x with f(x) = x. `f` is affine over single bits, as CRC-32 is, so 32 linear equations have to be solved. */
function fixedPoint(f: (x: number) => number): number {
  const constant = f(0) >>> 0;
  /** Column `bit` of the matrix of f(x) + x, and the bit itself. */
  const pivots = new Map<number, readonly [number, number]>();
  const reduce = (value: number, mask: number): readonly [number, number] => {
    let [left, used] = [value >>> 0, mask];
    for (const [top, [column, bits]] of pivots)
      if ((left >>> top) & 1) [left, used] = [(left ^ column) >>> 0, used ^ bits];
    return [left, used];
  };
  for (let bit = 0; bit < 32; bit += 1) {
    const [left, used] = reduce((f(1 << bit) ^ constant ^ (1 << bit)) >>> 0, 1 << bit);
    if (left !== 0) pivots.set(31 - Math.clz32(left), [left, used]);
  }
  const [left, x] = reduce(constant, 0);
  if (left !== 0) throw new Error('no checksum fits: change the name in the header');
  return x >>> 0;
}

/** The first bit is the lowest one of the first byte. */
function fromBits(bits: string): Buffer {
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt([...byte].reverse().join(''), 2)));
}
