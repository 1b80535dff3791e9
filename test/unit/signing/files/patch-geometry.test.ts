/** Where bytes are before and after a patch, against the plainest model: each byte of the result knows where it came from. */

import { describe, expect, it } from 'vitest';
import type { Patch } from '../../../../src/bytes/patch.ts';
import { isBytes, type Piece } from '../../../../src/bytes/pieces.ts';
import {
  coversRegions,
  differsInBytesAlone,
  insertedBytes,
  keepsPositions,
  leavesAlone,
  originIn,
  reachesEnd,
  shapeOf,
} from '../../../../src/signing/files/patch-geometry.ts';
import { applyPatch } from '../../formats/support/apply-patch.ts';
import { seededRandom } from '../../zip/support/random.ts';

const SIZE = 40;
const ROUNDS = 400;
const original = Buffer.from(Array.from({ length: SIZE }, (_, index) => index));

/** Sorted edits that do not overlap, often touching; what they insert is distinguished from the original by its highest bit. */
function randomPatch(random: (limit: number) => number): Patch {
  const edits: { offset: number; remove: number; insert: Buffer[] }[] = [];
  let offset = random(3) * random(10);
  for (let left = random(6); left > 0 && offset <= SIZE; left--) {
    const remove = Math.min(random(3) * random(5), SIZE - offset);
    edits.push({ offset, remove, insert: [Buffer.alloc(random(3) * random(4), 0x80 + random(0x80))] });
    offset += remove + random(2) * random(8);
  }
  return edits;
}

const asOnes = (piece: Piece): Piece => (isBytes(piece) ? Buffer.alloc(piece.length, 0xff) : piece);

/** For each byte of the result: where it was in the original, or -1 for one that was inserted. */
function originsOf(patch: Patch): number[] {
  return [...applyPatch(original, patch)].map((byte) => (byte < 0x80 ? byte : -1));
}

/** Runs of the original's bytes that nothing has come between or gone from. */
function isInOnePiece(patch: Patch, origin: number, length: number): boolean {
  return patch.every(({ offset, remove }) => offset + remove <= origin || offset >= origin + length);
}

const random = seededRandom(1);
const patches = Array.from({ length: ROUNDS }, () => randomPatch(random));

describe('the origin of bytes', () => {
  it('is where every byte of them was, in any patch', () => {
    let known = 0;
    for (const patch of patches) {
      const origins = originsOf(patch);
      const originOf = originIn(shapeOf(patch, SIZE));
      for (let start = 0; start < origins.length; start++) {
        for (let end = start + 1; end <= origins.length; end++) {
          const found = originOf(start, end);
          const first = origins[start] ?? -1;
          const follow = origins.slice(start, end).every((origin, index) => origin === first + index && origin >= 0);
          const expected = follow && isInOnePiece(patch, first, end - start) ? first : undefined;
          if (found !== expected) throw new Error(`${JSON.stringify(shapeOf(patch, SIZE))} ${start}-${end}: ${found}`);
          if (found !== undefined) known++;
        }
      }
    }
    expect(known).toBeGreaterThan(10_000);
  });

  it('of no bytes is a place that has their neighbours, or is not known', () => {
    for (const patch of patches) {
      const origins = originsOf(patch);
      const originOf = originIn(shapeOf(patch, SIZE));
      for (let place = 0; place <= origins.length; place++) {
        const found = originOf(place, place);
        if (found === undefined) continue;
        const neighbours = [origins[place - 1], origins[place]];
        const atEdge = patch.some(({ offset, remove }) => offset === found || offset + remove === found);
        expect(
          atEdge || found === 0 || found === SIZE || neighbours.includes(found - 1) || neighbours.includes(found),
        ).toBe(true);
      }
    }
  });

  it('is the place itself without a patch', () => {
    expect([originIn([])(0, 40), originIn([])(7, 8)]).toEqual([0, 7]);
  });
});

describe('insertions', () => {
  it('are at their places in the result, all of them, in order', () => {
    for (const patch of patches) {
      const result = applyPatch(original, patch);
      const found = [...insertedBytes(patch)];
      expect(found.map(({ bytes }) => bytes)).toEqual(patch.flatMap(({ insert }) => [...insert]));
      for (const { position, bytes } of found) {
        expect(result.subarray(position, position + bytes.length).equals(bytes)).toBe(true);
      }
      const inserted = found.flatMap(({ position, bytes }) => [...bytes.keys()].map((index) => position + index));
      expect(inserted).toEqual(originsOf(patch).flatMap((origin, index) => (origin < 0 ? [index] : [])));
    }
  });
});

describe('a shape', () => {
  it('keeps positions just when every byte that stays, stays where it is', () => {
    let keeping = 0;
    for (const patch of patches) {
      if (!keepsPositions(shapeOf(patch, SIZE), SIZE)) continue;
      keeping++;
      for (const [index, origin] of originsOf(patch).entries()) if (origin >= 0) expect(origin).toBe(index);
    }
    expect(keeping).toBeGreaterThan(20);
    const edit = (offset: number, remove: number, added: number) => ({ offset, remove, added, addsRanges: false });
    expect(keepsPositions([edit(0, 2, 2), edit(30, 10, 3)], SIZE)).toBe(true);
    expect(keepsPositions([edit(0, 2, 2), edit(30, 9, 3)], SIZE)).toBe(false);
    expect(keepsPositions([edit(0, 2, 3), edit(30, 10, 3)], SIZE)).toBe(false);
    expect(keepsPositions([edit(40, 0, 1), edit(40, 0, 1)], SIZE)).toBe(false);
    expect([reachesEnd(edit(40, 0, 1), SIZE), reachesEnd(edit(30, 9, 1), SIZE)]).toEqual([true, false]);
  });

  it('is the same just when one insertion can be written over the other', () => {
    for (const [index, patch] of patches.entries()) {
      const filled = patch.map((edit) => ({ ...edit, insert: [...edit.insert].map(asOnes) }));
      expect(differsInBytesAlone(filled, patch)).toBe(true);
      const other = patches[(index + 1) % ROUNDS] ?? [];
      if (!differsInBytesAlone(other, patch)) continue;
      const result = applyPatch(original, patch);
      for (const { position, bytes } of insertedBytes(other)) result.set(bytes, position);
      expect(result.equals(applyPatch(original, other))).toBe(true);
    }
    const edit = { offset: 3, remove: 2, insert: [Buffer.from('a'), { start: 1, end: 4 }] };
    const differs = (...insert: Piece[]) => differsInBytesAlone([{ ...edit, insert }], [edit]);
    expect(differs(Buffer.from('b'), { start: 1, end: 4 })).toBe(true);
    expect(differs(Buffer.from('bb'), { start: 1, end: 4 })).toBe(false);
    expect(differs(Buffer.from('b'), { start: 1, end: 5 })).toBe(false);
    expect(differs(Buffer.from('b'), Buffer.from('abc'))).toBe(false);
    expect(differs(Buffer.from('b'))).toBe(false);
    expect(differs(Buffer.from('b'), { start: 1, end: 4 }, Buffer.from(''))).toBe(false);
    expect(differsInBytesAlone([edit], [edit, edit])).toBe(false);
    expect(differsInBytesAlone([edit, edit], [edit])).toBe(false);
    expect(differsInBytesAlone([{ ...edit, remove: 1 }], [edit])).toBe(false);
    expect(differsInBytesAlone([{ ...edit, offset: 4 }], [edit])).toBe(false);
  });

  it('covers another where it begins with the same regions', () => {
    const [first, second] = [
      { offset: 3, remove: 2, added: 1, addsRanges: false },
      { offset: 9, remove: 0, added: 4, addsRanges: false },
    ];
    expect(coversRegions([{ ...first, added: 7 }, second], [first])).toBe(true);
    expect(coversRegions([first], [first, second])).toBe(false);
    expect(coversRegions([second], [first])).toBe(false);
    expect(coversRegions([{ ...first, addsRanges: true }], [first])).toBe(false);
  });

  it('keeps a content exactly if none of its bytes was removed and nothing was inserted', () => {
    for (const patch of patches) {
      const [start, length] = [random(30), 1 + random(10)];
      const content = [{ start, end: start + length }];
      const untouched = patch.every(({ offset, remove }) => offset >= start + length || offset + remove <= start);
      expect(leavesAlone(shapeOf(patch, SIZE), content)).toBe(untouched);
      if (!untouched) continue;
      expect(applyPatch(original, patch).includes(original.subarray(start, start + length))).toBe(true);
    }
  });

  it('is not made of edits or ranges that are not in the file', () => {
    const shape =
      (offset: number, remove: number, ...insert: Piece[]) =>
      () =>
        shapeOf([{ offset, remove, insert }], SIZE);
    for (const made of [shape(39, 2), shape(0, -1), shape(41, 0), shape(Number.NaN, 0)])
      expect(made).toThrow(/cannot be/);
    for (const [start, end] of [
      [0, 41],
      [-1, 2],
      [3, 2],
      [0.5, 2],
      [0, Number.NaN],
    ] as const) {
      expect(shape(0, 0, { start, end })).toThrowError(
        expect.objectContaining({ code: 'pieces-invalid', category: 'internal' }),
      );
    }
    expect(() =>
      shapeOf(
        [
          { offset: 9, remove: 0, insert: [] },
          { offset: 3, remove: 0, insert: [] },
        ],
        SIZE,
      ),
    ).toThrow();
    const once = [Buffer.from('a')].values();
    expect(() => shapeOf([{ offset: 0, remove: 0, insert: once }], SIZE)).toThrow(/only once/);
  });
});
