/** A change to a file as data: the edits, in order, that turn the old bytes into the new ones. */

import type { Piece } from './pieces.ts';

/**
 * At `offset` of the original, `remove` bytes give way to `insert`: bytes, and ranges of the original. The code that applies the
 * patch goes through the pieces several times (for a rehearsal, to write, to compare), so each iteration must give the same.
 */
export interface Edit {
  readonly offset: number;
  readonly remove: number;
  readonly insert: Iterable<Piece>;
}

/** Edits sorted by offset that do not overlap. */
export type Patch = readonly Edit[];

/** All bytes of the result, as those of the original and those inserted. */
export function* patchedPieces(patch: Patch, size: number): Generator<Piece> {
  let read = 0;
  for (const { offset, remove, insert } of patch) {
    yield { start: read, end: offset };
    yield* insert;
    read = offset + remove;
  }
  yield { start: read, end: size };
}
