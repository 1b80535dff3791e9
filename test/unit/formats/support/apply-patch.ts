/** Applies a Patch to bytes in memory. */

import type { Patch } from '../../../../src/bytes/patch.ts';

/** Throws when the edits are not sorted, overlap, or reach past the end: a Patch never may. */
export function applyPatch(original: Uint8Array, patch: Patch): Buffer {
  const parts: Uint8Array[] = [];
  let position = 0;
  for (const { offset, remove, insert } of patch) {
    if (offset < position || offset + remove > original.length) throw new RangeError(`bad edit at ${offset}`);
    parts.push(original.subarray(position, offset), insert);
    position = offset + remove;
  }
  return Buffer.concat([...parts, original.subarray(position)]);
}
