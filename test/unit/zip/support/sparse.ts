/** Bytes of any size of which only some are in memory: everything between the segments is zeros. */

import type { ByteSource } from '../../../../src/bytes/byte-source.ts';
import type { Patch } from '../../../../src/bytes/patch.ts';

export interface Segment {
  readonly start: number;
  readonly bytes: Uint8Array;
}

/** More than a reader of headers ever asks for at once. */
const LONGEST_READ = 16 * 1024 * 1024;

/** Segments in order. Throws for a read of more than some mebibytes, and for streaming. */
export function sparseSource(size: number, segments: readonly Segment[]): ByteSource {
  return {
    size,
    read(offset, length) {
      if (offset < 0 || offset + length > size || length > LONGEST_READ) throw new RangeError(`${length} at ${offset}`);
      const bytes = Buffer.alloc(length);
      for (const part of segmentsBetween(segments, offset, offset + length)) bytes.set(part.bytes, part.start - offset);
      return Promise.resolve(bytes);
    },
    stream() {
      throw new Error('nobody streams gigabytes of zeros');
    },
  };
}

export function patchSparse(
  size: number,
  segments: readonly Segment[],
  patch: Patch,
): { readonly size: number; readonly segments: readonly Segment[] } {
  const result: Segment[] = [];
  let shift = 0;
  let read = 0;
  const keepUpTo = (end: number): void => {
    for (const { start, bytes } of segmentsBetween(segments, read, end)) result.push({ start: start + shift, bytes });
  };
  for (const { offset, remove, insert } of patch) {
    keepUpTo(offset);
    if (insert.length > 0) result.push({ start: offset + shift, bytes: insert });
    shift += insert.length - remove;
    read = offset + remove;
  }
  keepUpTo(size);
  return { size: size + shift, segments: result };
}

function segmentsBetween(segments: readonly Segment[], from: number, to: number): Segment[] {
  return segments.flatMap(({ start, bytes }) => {
    const [low, high] = [Math.max(start, from), Math.min(start + bytes.length, to)];
    return low < high ? [{ start: low, bytes: bytes.subarray(low - start, high - start) }] : [];
  });
}
