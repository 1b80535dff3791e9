/** Changes of bytes, wherever they stand. */

import { choose, oddNumber, once, pick, type Random } from './random.ts';

/** `start` and `end` of the bytes that are changed. */
export function mutateBytes(
  original: Uint8Array,
  random: Random,
  [start, end]: readonly [number, number] = [0, original.length],
): Buffer {
  const at = start + random(Math.max(1, end - start));
  const before = original.subarray(0, at);
  const after = original.subarray(at);
  const length = 1 + random(once(random, 4) ? 300 : 8);
  const copied = original.subarray(random(original.length)).subarray(0, length);
  return choose(random, 10, [
    () => Buffer.concat([before, randomBytes(random, length), after]),
    () => Buffer.concat([before, after.subarray(length)]),
    () => Buffer.concat([before, after.subarray(0, length), after]),
    // From elsewhere in the file, over what is there.
    () => Buffer.concat([before, copied, after.subarray(copied.length)]),
    () => Buffer.from(once(random, 3) ? before : Buffer.concat([original, after])),
    () => {
      const [octet = 0] = after;
      const other = once(random, 2) ? octet ^ (1 << random(8)) : random(256);
      return Buffer.concat([before, after.length === 0 ? after : Uint8Array.of(other), after.subarray(1)]);
    },
  ]);
}

export function randomBytes(random: Random, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random(256)));
}

/** The beginning of one and the end of another. */
export function splice(one: Uint8Array, other: Uint8Array, random: Random): Buffer {
  return Buffer.concat([one.subarray(0, random(one.length + 1)), other.subarray(random(other.length + 1))]);
}

/** Where a number stands, little-endian. */
export interface Field {
  readonly offset: number;
  readonly bytes: number;
}

/** The field with an odd number in it; nothing happens where the bytes end before it does. */
export function setOdd(target: Buffer, { offset, bytes }: Field, random: Random, near: readonly number[]): void {
  if (offset + bytes > target.length) return;
  const before = target.readUIntLE(offset, bytes);
  const value = once(random, 4) ? before ^ (1 << random(8)) : oddNumber(random, bytes, [...near, before]);
  target.writeUIntLE((value >>> 0) % 2 ** (8 * bytes), offset, bytes);
}

export function setOddFields(original: Uint8Array, fields: readonly Field[], random: Random, near: readonly number[]) {
  const changed = Buffer.from(original);
  for (let left = 1 + random(once(random, 3) ? 4 : 1); left > 0; left -= 1) {
    setOdd(changed, pick(random, fields), random, near);
  }
  return changed;
}
