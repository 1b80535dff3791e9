/** A ByteSource that tells how much of it has been read, for whoever shows progress. */

import type { ByteSource } from './byte-source.ts';

/** `bytes` of the `size` that one pass over the source reads; begins anew with the next pass. */
export type OnRead = (bytes: number, size: number) => void;

/** Reads as `source` does. Chunks of a stream count once they have been dealt with. */
export function watchedSource(source: ByteSource, onRead: OnRead): ByteSource {
  const { size } = source;
  let total = 0;

  function count(length: number): void {
    total += length;
    if (size > 0) onRead(total % size || Math.min(total, size), size);
  }

  return {
    size,
    async read(offset, length, scratch) {
      const bytes = await source.read(offset, length, scratch);
      count(length);
      return bytes;
    },
    async *stream(start, end) {
      for await (const chunk of source.stream(start, end)) {
        yield chunk;
        count(chunk.length);
      }
    },
  };
}
