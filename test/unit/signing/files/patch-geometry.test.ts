/** Where bytes are before and after a patch, against the plainest model: each byte of the result knows where it came from. */

import { describe, expect, it } from 'vitest';
import type { Patch } from '../../../../src/bytes/patch.ts';
import { isBytes, type Piece, pieceLength } from '../../../../src/bytes/pieces.ts';
import {
  insertedBytes,
  insertsAlone,
  isSameContent,
  keepsPositions,
  leavesAlone,
  originIn,
  piecesToWrite,
  sectionsOf,
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

/** As `randomPatch`, and what it inserts is also ranges of the original. */
function randomMoves(random: (limit: number) => number): Patch {
  return randomPatch(random).map((edit) => {
    const [start, length] = [random(30), random(10)];
    return { ...edit, insert: [...edit.insert, { start, end: start + length }, ...edit.insert] };
  });
}

const asOnes = (piece: Piece): Piece => (isBytes(piece) ? Buffer.alloc(piece.length, 0xff) : piece);

/** For each byte of the result: where it was in the original, or -1 for one that was inserted. */
function originsOf(patch: Patch): number[] {
  return [...applyPatch(original, patch)].map((byte) => (byte < 0x80 ? byte : -1));
}

const random = seededRandom(1);
const patches = Array.from({ length: ROUNDS }, () => randomPatch(random));
const moves = Array.from({ length: ROUNDS }, () => randomMoves(random));

describe('the origin of bytes', () => {
  it('is where every byte of them was, in any patch', () => {
    let known = 0;
    for (const patch of [...patches, ...moves]) {
      const origins = originsOf(patch);
      const originOf = originIn(patch, SIZE);
      for (let start = 0; start < origins.length; start++) {
        for (let end = start + 1; end <= origins.length; end++) {
          const found = originOf(start, end);
          const first = origins[start] ?? -1;
          const follow = origins.slice(start, end).every((origin, index) => origin === first + index && origin >= 0);
          const expected = follow ? first : undefined;
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
      const originOf = originIn(patch, SIZE);
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
    expect([originIn([], SIZE)(0, 40), originIn([], SIZE)(7, 8)]).toEqual([0, 7]);
  });
});

describe('insertions', () => {
  it('are at their places in the result, all of them, in order', () => {
    for (const patch of patches) {
      const result = applyPatch(original, patch);
      const found = [...insertedBytes(patch, SIZE)];
      const inserts = patch.flatMap(({ insert }) => [...insert]);
      expect(found.map(({ bytes }) => bytes)).toEqual(inserts.filter((piece) => pieceLength(piece) > 0));
      for (const { position, bytes } of found) {
        expect(result.subarray(position, position + bytes.length).equals(bytes)).toBe(true);
      }
      const inserted = found.flatMap(({ position, bytes }) => [...bytes.keys()].map((index) => position + index));
      expect(inserted).toEqual(originsOf(patch).flatMap((origin, index) => (origin < 0 ? [index] : [])));
    }
  });
});

/** What `patch` turns into when it is written over a file of which `copy` is the beginning. */
function written(copy: Buffer, patch: Patch, before: Patch | undefined): Buffer {
  const { length } = applyPatch(original, patch);
  const result = Buffer.concat([copy, Buffer.alloc(length)]).subarray(0, length);
  for (const { position, pieces } of sectionsOf(piecesToWrite(patch, before, SIZE))) {
    let at = position;
    for (const piece of pieces) {
      result.set(isBytes(piece) ? piece : original.subarray(piece.start, piece.end), at);
      at += pieceLength(piece);
    }
  }
  return result;
}

describe('what is to be written', () => {
  it('turns one result into another, and is no byte of the original that is there', () => {
    for (const [index, next] of moves.entries()) {
      const before = moves[(index + 1) % ROUNDS] ?? [];
      const expected = applyPatch(original, next);
      expect(written(Buffer.alloc(0), next, undefined)).toEqual(expected);
      expect(written(applyPatch(original, before), next, before)).toEqual(expected);
      const there = originsOf(before);
      for (const { position, piece } of piecesToWrite(next, before, SIZE)) {
        if (isBytes(piece)) continue;
        for (let at = piece.start; at < piece.end; at++) expect(there[position + at - piece.start]).not.toBe(at);
      }
    }
  });

  it('is what the patch inserts alone if the rest is there', () => {
    for (const patch of moves) {
      const filled = patch.map((edit) => ({ ...edit, insert: [...edit.insert].map(asOnes) }));
      expect(insertsAlone(filled, patch, SIZE)).toBe(true);
      expect([...piecesToWrite(filled, patch, SIZE)].every(({ piece }) => isBytes(piece))).toBe(true);
    }
    const edit = { offset: 3, remove: 2, insert: [Buffer.from('a'), { start: 1, end: 4 }] };
    const isAlone = (...insert: Piece[]) => insertsAlone([{ ...edit, insert }], [edit], SIZE);
    expect(isAlone(Buffer.from('b'), { start: 1, end: 4 })).toBe(true);
    expect(isAlone(Buffer.from('bb'), { start: 1, end: 4 })).toBe(false);
    expect(isAlone(Buffer.from('b'), { start: 2, end: 5 })).toBe(false);
    expect(isAlone(Buffer.from('b'), Buffer.from('abc'))).toBe(true);
    expect(isAlone(Buffer.from('b'))).toBe(false);
    expect(insertsAlone([], undefined, SIZE)).toBe(false);
  });
});

describe('the same content', () => {
  const ranges = (...pairs: readonly (readonly [number, number])[]) => pairs.map(([start, end]) => ({ start, end }));

  it('is made of the same bytes of the original, however they are split', () => {
    const swapped = [
      { offset: 0, remove: SIZE, insert: [...ranges([20, 40], [0, 10]), Buffer.from('x'), ...ranges([10, 20])] },
    ];
    const isSame = (content: readonly Piece[], before: readonly Piece[]) =>
      isSameContent(swapped, SIZE, content, before);
    expect(isSame(ranges([20, 30], [31, 41], [0, 20]), ranges([0, 40]))).toBe(true);
    expect(
      isSame([Buffer.from('a'), ...ranges([5, 25])], [Buffer.from('a'), ...ranges([25, 30], [30, 40], [0, 5])]),
    ).toBe(true);
    expect(isSame([Buffer.from('a'), ...ranges([5, 25])], [Buffer.from('b'), ...ranges([25, 40], [0, 5])])).toBe(false);
    expect(isSame(ranges([20, 30]), ranges([0, 11]))).toBe(false);
    expect(isSame(ranges([20, 30], [31, 32]), ranges([0, 10]))).toBe(false);
    // A byte that was inserted is not known, also behind the end of what was digested before.
    expect(isSame(ranges([20, 31]), ranges([0, 10]))).toBe(false);
    expect(isSame(ranges([30, 31]), [])).toBe(false);
    expect(isSame(ranges([30, 31]), [Buffer.from('x')])).toBe(false);
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
    const edit = (offset: number, remove: number, added: number) => ({ offset, remove, added });
    expect(keepsPositions([edit(0, 2, 2), edit(30, 10, 3)], SIZE)).toBe(true);
    expect(keepsPositions([edit(0, 2, 2), edit(30, 9, 3)], SIZE)).toBe(false);
    expect(keepsPositions([edit(0, 2, 3), edit(30, 10, 3)], SIZE)).toBe(false);
    expect(keepsPositions([edit(40, 0, 1), edit(40, 0, 1)], SIZE)).toBe(false);
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
