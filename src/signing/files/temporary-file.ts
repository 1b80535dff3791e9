import { type BigIntStats, constants, fstatSync, lstatSync, statfsSync, writeSync } from 'node:fs';
import { copyFile, type FileHandle, open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ByteSource } from '../../bytes/byte-source.ts';
import { LARGEST_DIRECT, readFully } from '../../bytes/file-source.ts';
import { toCodesignError } from '../../errors/codesign-error.ts';
import { fileErrors } from '../../files/errors.ts';
import { inFileSystem, whenFree } from '../../files/file-system-errors.ts';
import type { FileStats } from '../../files/input-file.ts';
import { signingErrors } from '../errors.ts';
import type { TemporaryFileLeft } from '../outcome.ts';

export const COPY = 'write the temporary file next to the target';

/** What a signature may add to a file in addition to its own bytes: certificates, a timestamp, alignment. */
const ROOM_FOR_SIGNATURE = 128 * 1024;

/** Throws `disk-full` when the folder's file system cannot take a copy of `size` bytes and a signature. */
export async function assertFreeSpace(folder: string, size: number): Promise<void> {
  const { bavail, bsize } = await inFileSystem('look at the target folder', async () => statfsSync(folder));
  // A file system that does not know (some network shares) says 0 blocks of 0 bytes: then the write shows it.
  if (bsize > 0 && bavail * bsize < size + ROOM_FOR_SIGNATURE) {
    throw fileErrors('disk-full', { doing: COPY });
  }
}

/** Of file systems, on a network mostly, that put no file in the place of another. */
const REFUSED_RENAME = new Set(['EEXIST', 'ENOTSUP', 'EOPNOTSUPP', 'EXDEV', 'ENOSYS', 'EINVAL']);

export async function writeFully(handle: FileHandle, bytes: Uint8Array, offset: number): Promise<void> {
  const isDirect = bytes.length <= LARGEST_DIRECT;
  for (let done = 0; done < bytes.length; ) {
    const [left, at] = [bytes.length - done, offset + done];
    done += isDirect
      ? writeSync(handle.fd, bytes, done, left, at)
      : (await handle.write(bytes, done, left, at)).bytesWritten;
  }
}

/** Of what was just written. False if the file ends before `into` is full. */
export function readBack(handle: FileHandle, into: Uint8Array, offset: number): Promise<boolean> {
  return readFully({ handle, isDirect: into.length <= LARGEST_DIRECT }, into, offset);
}

/**
 * Only root may give a file away, and only members may give it to a group: what this user may not, stays theirs, as with
 * any editor that saves through a rename. The set-user-ID bits are dropped: they would speak for another owner. The
 * owner can always write, or a result written elsewhere could not be replaced by the next run's.
 */
export async function takeOwnerAndMode(handle: FileHandle, stats: FileStats): Promise<void> {
  if (process.platform === 'win32') return;
  // This process has just made it: the answer is in memory, and to have it asked elsewhere takes longer.
  const mine = fstatSync(handle.fd, { bigint: true });
  const [uid, gid] = [Number(stats.uid), Number(stats.gid)];
  if (mine.uid !== stats.uid || mine.gid !== stats.gid) {
    await handle.chown(uid, gid).catch(() => handle.chown(Number(mine.uid), gid).catch(() => undefined));
  }
  await handle.chmod(Number(stats.mode & 0o777n) | 0o200);
}

/**
 * Renames the open file, whole or not at all. Throws `not-replaceable` if the file system does not do so, and `copy-changed` if
 * another file has taken the name: then the target is as it was, unless that happened during the rename itself.
 */
export async function renameOver(handle: FileHandle, path: string, target: string): Promise<void> {
  const own = fstatSync(handle.fd, { bigint: true });
  const doing = 'put the signed file in place';
  const renamed = whenFree(doing, async () => {
    assertIsAt(path, own);
    try {
      await rename(path, target);
    } catch (thrown) {
      const { code = '' } = thrown as NodeJS.ErrnoException;
      if (!REFUSED_RENAME.has(code)) throw thrown;
      throw signingErrors('not-replaceable', { path: target, reason: `its file system does not allow it (${code})` });
    }
  });
  await renamed.catch((thrown: unknown) => {
    // This user may replace it, as `assertReplaceable` showed; so Windows refuses because another program has it open.
    const isHeld = process.platform === 'win32' && toCodesignError(thrown).code === 'permission-denied';
    throw isHeld ? fileErrors('file-busy', { doing }, { cause: thrown }) : thrown;
  });
  assertIsAt(target, own);
}

/** Throws `copy-changed` if the path leads to another file, or is a link. If nothing is there, the rename reports that. */
function assertIsAt(path: string, { dev, ino }: BigIntStats): void {
  const there = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (there !== undefined && (there.dev !== dev || there.ino !== ino)) throw signingErrors('copy-changed');
}

export type OnLeft = (event: TemporaryFileLeft) => void;

/** Never throws: returns what could not be removed. `temporaryFiles` holds what is there. */
export async function removeTemporaryFile(path: string, temporaryFiles: Set<string>, onLeft: OnLeft): Promise<void> {
  try {
    await whenFree('remove the temporary file', () => unlink(path));
  } catch (thrown) {
    // Another process created it first.
    if (toCodesignError(thrown).code !== 'file-not-found') reportLeft(path, thrown, onLeft);
  }
  temporaryFiles.delete(path);
}

export function reportLeft(path: string, thrown: unknown, onLeft: OnLeft): void {
  onLeft({ type: 'temporary-file-left', path, error: toCodesignError(thrown) });
}

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

/**
 * Bytes from which on a copy takes longer than it takes to learn that the file system knows no clones. Clones on XFS: 300 MB
 * are staged and committed in 0.3 s instead of 0.5 s.
 */
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
