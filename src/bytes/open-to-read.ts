/** Opens a file to be read from start to end, and never waits for another program to open the other end of a pipe. */

import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';

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
