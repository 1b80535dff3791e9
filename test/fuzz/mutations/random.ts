/** Chance for one case: the same for the same seed, target and number, whatever ran before. */

import { createHash } from 'node:crypto';
import { seededRandom } from '../../unit/zip/support/random.ts';

/** A number from 0 (inclusive) to `below`. */
export type Random = (below: number) => number;

export function randomOfCase(seed: number, target: string, index: number): Random {
  const digest = createHash('sha256').update(`${seed} ${target} ${index}`).digest();
  return seededRandom(digest.readUInt32LE());
}

/** Throws for an empty list. */
export function pick<T>(random: Random, all: readonly T[]): T {
  if (all.length === 0) throw new RangeError('nothing to pick from');
  return all[random(all.length)] as T;
}

/** Does one of several things: each of the first once in `sides`, and the last one in all other cases. */
export function choose<T>(random: Random, sides: number, things: readonly (() => T)[]): T {
  const last = things.length - 1;
  const thing = things[Math.min(random(sides), last)];
  if (thing === undefined) throw new RangeError('nothing to do');
  return thing();
}

export function once(random: Random, times: number): boolean {
  return random(times) === 0;
}

const EDGES = [0, 1, 2, 7, 8, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x1_0000, 0x7fff_ffff, 0xffff_ffff];

/** For a field of so many bytes: an edge, next to one of the numbers that mean something here, or any. */
export function oddNumber(random: Random, bytes: number, near: readonly number[]): number {
  const limit = 2 ** (8 * bytes);
  const wrap = (value: number): number => ((value % limit) + limit) % limit;
  return choose(random, 4, [
    () => wrap(pick(random, EDGES)),
    () => wrap(limit - 1 - random(16)),
    () => Math.floor((random(0x4000_0000) / 0x4000_0000) * limit),
    () => wrap((near.length === 0 ? 0 : pick(random, near)) + random(17) - 8),
  ]);
}
