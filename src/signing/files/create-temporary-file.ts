/**
 * The temporary file's beginning: a clone of the original where the file system lets two files share their bytes (reflink:
 * XFS, Btrfs), so that nothing is copied; else an empty file.
 */

import { constants, fstatSync } from 'node:fs';
import { copyFile, type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ByteSource } from '../../bytes/byte-source.ts';
import { whenFree } from '../../files/file-system-errors.ts';
import type { FileStats } from '../../files/input-file.ts';

/** The file that is signed, as far as it takes to clone it and to compare with it. */
export interface OriginalFile {
  /** The open file's number in this process. */
  readonly descriptor: number;
  readonly stats: FileStats;
  /** The same bytes as the source, read without a listener for progress. */
  readonly unwatched: ByteSource;
  /** Reports the reading of the clone to the listener that follows how far the original is read. */
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

/**
 * Creates `path`, which must not be there; a link is not followed. All that follows works on the open file: the name may
 * lead elsewhere by then, where other users may write the folder. @param size of the original, in bytes
 */
export async function createTemporaryFile(path: string, size: number, original?: OriginalFile): Promise<TemporaryFile> {
  const handle = await whenFree(`create a file in ${dirname(path)}`, () => open(path, 'wx+', PRIVATE));
  const isWorthIt = MAY_CLONE && original !== undefined && size >= WORTH_ASKING && mayClone(original, handle);
  return { handle, isClone: isWorthIt && (await clone(original, handle, size)) };
}

/**
 * Cloning gives the file the original's mode for a moment. With another owner or group that could let others run or change
 * it: a program of another user would be one of root's with its set-user-ID bit.
 */
function mayClone({ stats }: OriginalFile, { fd }: FileHandle): boolean {
  const { uid, gid } = fstatSync(fd, { bigint: true });
  return uid === stats.uid && gid === stats.gid;
}

/** @returns false if the file is left empty, for whatever reason: copying finds the same reason, and reports it */
async function clone({ descriptor }: OriginalFile, handle: FileHandle, size: number): Promise<boolean> {
  const { fd } = handle;
  // Through these names the system finds the open files themselves; where there are none, it finds nothing.
  await copyFile(`/proc/self/fd/${descriptor}`, `/proc/self/fd/${fd}`, constants.COPYFILE_FICLONE_FORCE).catch(
    () => undefined,
  );
  await handle.chmod(PRIVATE);
  const isClone = fstatSync(fd).size === size;
  if (!isClone) await handle.truncate(0);
  return isClone;
}
