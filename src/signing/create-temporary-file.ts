/**
 * The temporary file's beginning: a clone of the original where the file system lets two files share their bytes (reflink:
 * XFS, Btrfs), so that nothing is copied; else an empty file.
 */

import { constants } from 'node:fs';
import { chmod, copyFile, type FileHandle, open, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ByteSource } from '../bytes/byte-source.ts';
import { whenFree } from '../files/file-system-errors.ts';

/** The file that is signed, as far as it takes to clone it. */
export interface CloneOf {
  readonly path: string;
  /** Has whoever follows how far the original is read follow the reading of its clone instead. */
  watch(clone: ByteSource): ByteSource;
}

export interface TemporaryFile {
  readonly handle: FileHandle;
  /** Holds the original's bytes already. */
  readonly isClone: boolean;
}

/** Bytes from which on a copy takes longer than it takes to learn that the file system knows no clones. */
const WORTH_ASKING = 1024 * 1024;
/** For this user alone, until it is given the original's owner and mode. */
const PRIVATE = 0o600;

/** macOS clones too, but takes locks and access lists of the original along, which no temporary file should have. */
const MAY_CLONE = process.platform === 'linux';

/** Creates `path`, which nobody else may have. @param size of the original, in bytes */
export async function createTemporaryFile(path: string, size: number, of?: CloneOf): Promise<TemporaryFile> {
  const clone =
    MAY_CLONE && of !== undefined && size >= WORTH_ASKING ? await openClone(of.path, path, size) : undefined;
  if (clone !== undefined) return { handle: clone, isClone: true };
  return {
    handle: await whenFree(`create a file in ${dirname(path)}`, () => open(path, 'wx+', PRIVATE)),
    isClone: false,
  };
}

/** @returns undefined where there is none, for whatever reason: copying finds out the same, and tells of it */
async function openClone(original: string, path: string, size: number): Promise<FileHandle | undefined> {
  try {
    await copyFile(original, path, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE);
  } catch {
    return undefined;
  }
  let handle: FileHandle | undefined;
  try {
    await chmod(path, PRIVATE); // it came with the original's mode, by which it may not even be written
    handle = await open(path, 'r+');
    const { size: cloned } = await handle.stat();
    if (cloned === size) return handle;
  } catch {
    // As if there were no clones.
  }
  await handle?.close();
  await whenFree('remove the temporary file', () => unlink(path));
  return undefined;
}
