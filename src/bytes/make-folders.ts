/** Making a folder with those above it, and coming back from it in any case. */

import { statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

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
