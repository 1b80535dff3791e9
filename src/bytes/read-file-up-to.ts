/** Reads a file whole, unless it is too large: to the end rather than to a size, for pipes have none. */

import type { FileHandle } from 'node:fs/promises';
import { openToRead } from './open-to-read.ts';

const CHUNK = 64 * 1024;

/** Throws what `openToRead` throws, and EFBIG for a file longer than `limit`. */
export async function readFileUpTo(path: string, limit: number): Promise<Uint8Array> {
  const handle = await openToRead(path);
  try {
    return await readHandleUpTo(handle, limit);
  } finally {
    await handle.close();
  }
}

/** What is left of an open file, as `readFileUpTo` reads it. */
export async function readHandleUpTo(handle: FileHandle, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(CHUNK), 0, CHUNK, null);
    if (bytesRead === 0) break;
    chunks.push(buffer.subarray(0, bytesRead));
    length += bytesRead;
    if (length > limit) throw Object.assign(new Error(`longer than ${limit} bytes`), { code: 'EFBIG' });
  }
  return Buffer.concat(chunks, length);
}
