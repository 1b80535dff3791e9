/** Bytes of any size of which only some are in memory: everything between the segments is zeros. */

import type { ByteSource } from '../../../../src/bytes/byte-source.ts';
import { type ByteRange, isBytes, type Patch, pieceLength } from '../../../../src/bytes/pieces.ts';

export interface Segment {
  readonly start: number;
  readonly bytes: Uint8Array;
}

/** More than a reader of headers ever requests in one call. */
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
      throw new Error('not a stream gigabytes of zeros');
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
  const rangeOf = (range: ByteRange) =>
    segmentsBetween(segments, range.start, range.end).map(({ start, bytes }) => ({
      start: start - range.start,
      bytes,
    }));
  const keepUpTo = (end: number): void => {
    for (const { start, bytes } of segmentsBetween(segments, read, end)) result.push({ start: start + shift, bytes });
  };
  for (const { offset, remove, insert } of patch) {
    keepUpTo(offset);
    let start = offset + shift;
    for (const piece of insert) {
      const parts = isBytes(piece) ? [{ start: 0, bytes: piece }] : rangeOf(piece);
      for (const part of parts)
        if (part.bytes.length > 0) result.push({ start: start + part.start, bytes: part.bytes });
      start += pieceLength(piece);
    }
    shift = start - offset - remove;
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
