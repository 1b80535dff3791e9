/** Where bytes are before and after a patch, against the plainest model: each byte of the result knows where it came from. */

import { describe, expect, it } from 'vitest';
import { isBytes, type Patch, type Piece, pieceLength } from '../../../../src/bytes/pieces.ts';
import { piecesToWrite, resultSize, sectionsOf } from '../../../../src/signing/files/patch-geometry.ts';
import { applyPatch } from '../../formats/support/apply-patch.ts';
import { seededRandom } from '../../zip/support/random.ts';

const SIZE = 40;
const ROUNDS = 100;
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
      expect([...piecesToWrite(filled, patch, SIZE)].every(({ piece }) => isBytes(piece))).toBe(true);
    }
  });
});

describe('the size of a result', () => {
  it('is that of the patched bytes', () => {
    for (const patch of [...patches, ...moves]) {
      expect(resultSize(patch, SIZE)).toBe(applyPatch(original, patch).length);
    }
  });

  it.each<[string, Patch]>([
    [
      'go back',
      [
        { offset: 5, remove: 2, insert: [] },
        { offset: 6, remove: 0, insert: [] },
      ],
    ],
    ['reach past the end', [{ offset: SIZE, remove: 1, insert: [] }]],
    ['remove fewer than no bytes', [{ offset: 5, remove: -1, insert: [] }]],
    ['insert a range that is not in the file', [{ offset: 0, remove: 0, insert: [{ start: 0, end: SIZE + 1 }] }]],
  ])('is not given for edits that %s', (_, patch) => {
    expect(() => resultSize(patch, SIZE)).toThrow(expect.objectContaining({ code: 'pieces-invalid' }));
  });
});
