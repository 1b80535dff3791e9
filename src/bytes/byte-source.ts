import { bytesErrors } from './errors.ts';

/**
 * Bytes of a known size. Offsets and lengths are in bytes, from 0; `end` is exclusive.
 * A chunk that `stream` yields is valid only until the next one is read: its memory is used again.
 */
export interface ByteSource {
  readonly size: number;
  /**
   * Exactly `length` bytes from `offset`; throws `read-past-end` when the source is shorter. `scratch` is memory that they
   * may be put into, for callers that read much and keep nothing; it is used if it is long enough.
   */
  read(offset: number, length: number, scratch?: Buffer): Promise<Uint8Array>;
  stream(start?: number, end?: number): AsyncIterable<Uint8Array>;
}

export function isSameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

export function memorySource(bytes: Uint8Array): ByteSource {
  return {
    size: bytes.length,
    async read(offset, length) {
      if (offset < 0 || length < 0 || offset + length > bytes.length) {
        throw bytesErrors('read-past-end', { what: 'bytes', length, offset, size: bytes.length });
      }
      return bytes.subarray(offset, offset + length);
    },
    async *stream(start = 0, end = bytes.length) {
      if (start < end) yield bytes.subarray(start, end);
    },
  };
}

/** The bytes from `from` up to `to` of a source, as a source. */
export function rangeSource(source: ByteSource, from: number, to: number): ByteSource {
  const size = to - from;
  return {
    size,
    async read(offset, length, scratch) {
      if (offset < 0 || length < 0 || offset + length > size) {
        throw bytesErrors('read-past-end', { what: 'bytes', length, offset, size });
      }
      return source.read(from + offset, length, scratch);
    },
    stream: (start = 0, end = size) => source.stream(from + start, from + Math.min(end, size)),
  };
}

/** `bytes` of the `size` that one pass over the source reads; starts again with the next pass. */
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
