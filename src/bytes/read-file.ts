/** Reads a file whole, unless it is too large: to the end rather than to a size, for pipes have none. */

import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';

const CHUNK = 64 * 1024;

/** Throws what `openToRead` throws, and EFBIG for a file longer than `limit`. */
export async function readFileUpTo(path: string, limit: number): Promise<Buffer> {
  await using handle = await openToRead(path);
  return await readHandleUpTo(handle, limit);
}

/** What is left of an open file, as `readFileUpTo` reads it. */
export async function readHandleUpTo(handle: FileHandle, limit: number): Promise<Buffer> {
  const bytes = await readBeginning(handle, limit);
  if (bytes.length > limit) throw Object.assign(new Error(`longer than ${limit} bytes`), { code: 'EFBIG' });
  return bytes;
}

/** All that is left of an open file, or more than `limit` bytes of it. */
export async function readBeginning(handle: FileHandle, limit: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for (let length = 0; length <= limit; ) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(CHUNK), 0, CHUNK, null);
    if (bytesRead === 0) break;
    chunks.push(buffer.subarray(0, bytesRead));
    length += bytesRead;
  }
  return Buffer.concat(chunks);
}

/** Descriptors that this process was started with, for example for `<(command)` of a shell: their other end is open. */
const OWN_DESCRIPTOR = /^\/(?:dev|proc\/self)\/fd\/\d{1,9}$|^\/dev\/stdin$/;

/** Windows has no such flag, and no pipes in folders. */
const READ_WITHOUT_WAITING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * Throws what the system throws, EISDIR for a folder, and ENXIO for a named pipe, a socket or a device, which is not even
 * opened: some devices act on that.
 */
export async function openToRead(path: string): Promise<FileHandle> {
  if (OWN_DESCRIPTOR.test(path)) return open(path, 'r');
  assertFile(await stat(path));
  const handle = await open(path, READ_WITHOUT_WAITING);
  try {
    // The path may lead elsewhere by now.
    assertFile(await handle.stat());
    return handle;
  } catch (thrown) {
    await handle.close();
    throw thrown;
  }
}

function assertFile(stats: { isFile(): boolean; isDirectory(): boolean }): void {
  if (stats.isFile()) return;
  throw Object.assign(new Error('not a file'), { code: stats.isDirectory() ? 'EISDIR' : 'ENXIO' });
}
