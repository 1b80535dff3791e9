/** Applies a Patch to bytes in memory. */

import { isBytes, type Patch, type Piece } from '../../../../src/bytes/pieces.ts';

/** What the pieces are, in one buffer. */
export function insertedBy(insert: Iterable<Piece>, original: Uint8Array): Buffer {
  return Buffer.concat(
    [...insert].map((piece) => (isBytes(piece) ? piece : original.subarray(piece.start, piece.end))),
  );
}

/** Throws when the edits are not sorted, overlap, or reach past the end: a Patch never may. */
export function applyPatch(original: Uint8Array, patch: Patch): Buffer {
  const parts: Uint8Array[] = [];
  let position = 0;
  for (const { offset, remove, insert } of patch) {
    if (offset < position || offset + remove > original.length) throw new RangeError(`bad edit at ${offset}`);
    parts.push(original.subarray(position, offset), insertedBy(insert, original));
    position = offset + remove;
  }
  return Buffer.concat([...parts, original.subarray(position)]);
}
