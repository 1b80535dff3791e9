/** A ByteSource over an open file, read in large pieces with the next one under way while one is looked at. */

import { type ByteSource, memorySource } from './byte-source.ts';
import { bytesErrors } from './errors.ts';
import type { OpenedFile } from './opened-file.ts';

/** All that reading needs of an open file. */
type ReadableFile = Pick<OpenedFile, 'read'>;

/** Large enough that system calls cost nothing compared with hashing, small enough that several files in parallel stay small. */
const CHUNK_LENGTH = 1024 * 1024;
/** Headers are read field by field: a system call for each would cost more than all that is made of them. */
const WINDOW_LENGTH = 4096;

interface Window {
  readonly start: number;
  readonly end: number;
  readonly bytes: Promise<Buffer>;
}

/** Reads the whole file at once. */
export async function wholeSource(file: ReadableFile, size: number): Promise<ByteSource> {
  return memorySource(await readChunk(file, Buffer.allocUnsafeSlow(size), 0, size));
}

/**
 * Reads through `file`, which stays the caller's to close. `size` is the size to hold the file to, in bytes. The file must
 * not change: bytes next to requested ones are read with them, and not again.
 */
export function fileSource(file: ReadableFile, size: number): ByteSource {
  let window: Window | undefined;

  /** The last one where it holds the bytes; else from a multiple of its length, where that is enough. */
  function windowWith(offset: number, length: number): Window {
    if (window !== undefined && window.start <= offset && offset + length <= window.end) return window;
    const even = offset - (offset % WINDOW_LENGTH);
    const start = offset + length <= even + WINDOW_LENGTH ? even : offset;
    const end = Math.min(start + WINDOW_LENGTH, size);
    const bytes = watched(readChunk(file, Buffer.allocUnsafe(end - start), start, end));
    window = { start, end, bytes };
    return window;
  }

  return {
    size,
    async read(offset, length, scratch) {
      if (offset < 0 || length < 0 || offset + length > size) {
        throw bytesErrors('read-past-end', { what: 'file', length, offset, size });
      }
      if (scratch === undefined && length <= WINDOW_LENGTH) {
        const { start, bytes } = windowWith(offset, length);
        return Buffer.from((await bytes).subarray(offset - start, offset - start + length));
      }
      const isEnough = scratch !== undefined && scratch.length >= length;
      const buffer = isEnough ? scratch.subarray(0, length) : Buffer.allocUnsafeSlow(length);
      await fill(file, buffer, offset);
      return buffer;
    },
    stream(start = 0, end = size) {
      return readAhead(file, start, Math.min(end, size));
    },
  };
}

/** Two buffers in turn: the one the consumer holds and the one that is being filled. */
async function* readAhead(file: ReadableFile, start: number, end: number): AsyncGenerator<Uint8Array> {
  const length = Math.min(CHUNK_LENGTH, Math.max(end - start, 0));
  if (length === 0) return;
  const first = Buffer.allocUnsafeSlow(length);
  const second = end - start > length ? Buffer.allocUnsafeSlow(length) : first;

  let offset = start;
  let spare = second;
  let pending = watched(readChunk(file, first, offset, end));
  try {
    while (offset < end) {
      const chunk = await pending;
      offset += chunk.length;
      if (offset < end) {
        pending = watched(readChunk(file, spare, offset, end));
        spare = spare === second ? first : second;
      }
      yield chunk;
    }
  } finally {
    // A consumer that stops early must not leave a read running on a handle that is closed next.
    await pending.catch(() => undefined);
  }
}

/** A read ahead may fail before a caller waits for it; it still fails for that caller later. */
function watched<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

async function readChunk(file: ReadableFile, buffer: Buffer, offset: number, end: number): Promise<Buffer> {
  const chunk = buffer.subarray(0, Math.min(buffer.length, end - offset));
  await fill(file, chunk, offset);
  return chunk;
}

async function fill(file: ReadableFile, buffer: Buffer, offset: number): Promise<void> {
  if (!(await readFully(file, buffer, offset))) throw bytesErrors('file-shrunk', { length: buffer.length, offset });
}

/** False if the file ends before `into` is full. */
async function readFully(file: ReadableFile, into: Uint8Array, offset: number): Promise<boolean> {
  for (let done = 0; done < into.length; ) {
    const { bytesRead } = await file.read(into, done, into.length - done, offset + done);
    if (bytesRead === 0) return false;
    done += bytesRead;
  }
  return true;
}
