import { bytesErrors } from './errors.ts';

/**
 * Offsets and lengths are in bytes, and `end` is exclusive. A chunk from `stream` is valid until the next chunk is
 * read.
 */
export interface ByteSource {
  readonly size: number;
  /** The bytes may be read into `scratch` if the caller does not keep them. */
  read(offset: number, length: number, scratch?: Buffer): Promise<Uint8Array>;
  stream(start?: number, end?: number): AsyncIterable<Uint8Array>;
}

export function isSameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

export function checkRange(what: string, offset: number, length: number, size: number): void {
  if (offset >= 0 && length >= 0 && offset + length <= size) return;
  throw bytesErrors('read-past-end', { what, length, offset, size });
}

export function memorySource(bytes: Uint8Array): ByteSource {
  return {
    size: bytes.length,
    async read(offset, length) {
      checkRange('bytes', offset, length, bytes.length);
      return bytes.subarray(offset, offset + length);
    },
    async *stream(start = 0, end = bytes.length) {
      if (start < end) yield bytes.subarray(start, end);
    },
  };
}

export function rangeSource(source: ByteSource, from: number, to: number): ByteSource {
  const size = to - from;
  return {
    size,
    async read(offset, length, scratch) {
      checkRange('bytes', offset, length, size);
      return source.read(from + offset, length, scratch);
    },
    stream: (start = 0, end = size) => source.stream(from + start, from + Math.min(end, size)),
  };
}

/** `bytes` restarts at 0 with each pass over the source. */
export type OnRead = (bytes: number, size: number) => void;

/** Counts each chunk of a stream after its consumer has processed it. */
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

const WINDOW_LENGTH = 1024 * 1024;

/** Supports many small reads at mostly ascending offsets below `limit`. Buffers are valid until the next `load`. */
export function slidingWindow(source: ByteSource, limit: number) {
  const scratch = Buffer.allocUnsafeSlow(Math.min(WINDOW_LENGTH, limit));
  let start = 0;
  let bytes: Buffer = scratch.subarray(0, 0);
  return {
    view(offset: number, length: number): Buffer | undefined {
      if (offset < start || offset + length > start + bytes.length) return undefined;
      return bytes.subarray(offset - start, offset - start + length);
    },
    async load(offset: number, length: number): Promise<Buffer> {
      if (length <= 0) return scratch.subarray(0, 0);
      start = offset;
      const window = await source.read(offset, Math.min(Math.max(length, WINDOW_LENGTH), limit - offset), scratch);
      bytes = Buffer.from(window.buffer, window.byteOffset, window.length);
      return bytes.subarray(0, length);
    },
  };
}
