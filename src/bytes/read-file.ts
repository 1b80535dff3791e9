/** Reads files without using their size, because pipes have no size. */

import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';

const CHUNK = 64 * 1024;

/** Throws EFBIG for a longer file. */
export async function readFileUpTo(path: string, limit: number): Promise<Buffer> {
  await using handle = await openToRead(path);
  return await readHandleUpTo(handle, limit);
}

/** Throws EFBIG if more than `limit` bytes follow the current position. */
export async function readHandleUpTo(handle: FileHandle, limit: number): Promise<Buffer> {
  const bytes = await readBeginning(handle, limit);
  if (bytes.length > limit) throw Object.assign(new Error(`longer than ${limit} bytes`), { code: 'EFBIG' });
  return bytes;
}

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

/** A shell passes inherited descriptors, for example for `<(command)`. */
const OWN_DESCRIPTOR = /^\/(?:dev|proc\/self)\/fd\/\d{1,9}$|^\/dev\/stdin$/;

/** Without O_NONBLOCK, which Windows lacks, opening a named pipe waits for a writer. */
export const READ_WITHOUT_WAITING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Throws EISDIR for a folder, and ENXIO for a named pipe, a socket or a device, without opening it. */
export async function openToRead(path: string): Promise<FileHandle> {
  if (OWN_DESCRIPTOR.test(path)) return open(path, 'r');
  assertFile(await stat(path));
  const handle = await open(path, READ_WITHOUT_WAITING);
  try {
    // Another file may have replaced the file that was checked.
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
