/** What the system is asked for a temporary file: whole writes and reads, room, owner and mode, its rename, a flushed folder. */

import { constants, fstatSync, statfsSync } from 'node:fs';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { fileErrors } from '../files/errors.ts';
import { inFileSystem, whenFree } from '../files/file-system-errors.ts';
import type { FileStats } from '../files/input-file.ts';
import { signingErrors } from './errors.ts';

export const COPY = 'write the temporary file beside the target';

/** What a signature may add to a file beside its own bytes: certificates, a timestamp, alignment. */
const ROOM_FOR_SIGNATURE = 128 * 1024;

/** Throws `disk-full` when the folder's file system cannot take a copy of `size` bytes and a signature. */
export async function assertRoom(folder: string, size: number): Promise<void> {
  const { bavail, bsize } = await inFileSystem('look at the target folder', async () => statfsSync(folder));
  // A file system that does not know (some network shares) says 0 blocks of 0 bytes: then the write will tell.
  if (bsize > 0 && bavail * bsize < size + ROOM_FOR_SIGNATURE) {
    throw fileErrors('disk-full', { doing: COPY });
  }
}

/** Of file systems, on a network mostly, that put no file in the place of another. */
const REFUSED_RENAME = new Set(['EEXIST', 'ENOTSUP', 'EOPNOTSUPP', 'EXDEV', 'ENOSYS', 'EINVAL']);

export async function writeFully(handle: FileHandle, bytes: Uint8Array, offset: number): Promise<void> {
  let done = 0;
  while (done < bytes.length) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, offset + done);
    done += bytesWritten;
  }
}

/** Throws `copy-differs` when the file ends before `into` is full. */
export async function readFully(handle: FileHandle, into: Uint8Array, offset: number): Promise<void> {
  let done = 0;
  while (done < into.length) {
    const { bytesRead } = await handle.read(into, done, into.length - done, offset + done);
    if (bytesRead === 0) throw signingErrors('copy-differs');
    done += bytesRead;
  }
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

/** Whole or not at all. Throws `not-replaceable` where the file system has no such thing: the target is as it was. */
export async function renameOver(path: string, target: string): Promise<void> {
  await whenFree('put the signed file in place', async () => {
    try {
      await rename(path, target);
    } catch (thrown) {
      const { code = '' } = thrown as NodeJS.ErrnoException;
      if (!REFUSED_RENAME.has(code)) throw thrown;
      throw signingErrors('not-replaceable', { path: target, reason: `its file system refuses it (${code})` });
    }
  });
}

/** Makes a rename itself durable. Windows has no handle for that, and some file systems refuse it: both keep order. */
export async function flushFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code !== 'EINVAL' && code !== 'ENOTSUP') throw thrown;
  } finally {
    await handle.close();
  }
}
