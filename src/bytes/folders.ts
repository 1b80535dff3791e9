import { constants, statSync } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { hasCode } from '../errors/system-reason.ts';

/**
 * False when it is there already. Not by Node's `recursive`: with that it never comes back where nothing can be made
 * (/proc), and says of a read-only disk that there is no such file.
 */
export async function makeFolders(path: string, mode = 0o777): Promise<boolean> {
  try {
    return await makeOne(path, mode);
  } catch (thrown) {
    const parent = dirname(path);
    if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT' || parent === path) throw thrown;
    await makeFolders(parent, mode);
    return await makeOne(path, mode);
  }
}

async function makeOne(path: string, mode: number): Promise<boolean> {
  // Mostly it is.
  if (isFolder(path)) return false;
  try {
    await mkdir(path, { mode });
    return true;
  } catch (thrown) {
    // Another process created it first.
    if (isFolder(path)) return false;
    throw thrown;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** Makes a rename, or the name of a new file, durable. Windows has no handle for that, and some file systems refuse it: both keep order. */
export async function flushFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  await using handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } catch (thrown) {
    if (!hasCode(thrown, 'EINVAL', 'ENOTSUP')) throw thrown;
  }
}
