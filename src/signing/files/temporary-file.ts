import { type BigIntStats, fstatSync, linkSync, lstatSync, renameSync, type StatsFs } from 'node:fs';
import { open, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type OpenedFile, openDirectly } from '../../bytes/opened-file.ts';
import { toCodesignError } from '../../errors/codesign-error.ts';
import { hasCode } from '../../errors/system-reason.ts';
import { fileErrors } from '../../files/errors.ts';
import { retryWhileBusy } from '../../files/file-system-errors.ts';
import { type FileStats, identityOf } from '../../files/input-file.ts';
import { signingErrors } from '../errors.ts';
import type { TemporaryFileLeft } from '../outcome.ts';

export const COPY = 'write the temporary file next to the target';

/** What a signature may add to a file in addition to its own bytes: certificates, a timestamp, alignment. */
const ROOM_FOR_SIGNATURE = 128 * 1024;

/** Throws `disk-full` when the file system cannot take a copy of `size` bytes and a signature. */
export function assertFreeSpace({ bavail, bsize }: StatsFs, size: number): void {
  // A file system that does not know (some network shares) says 0 blocks of 0 bytes: then the write shows it.
  if (bsize > 0 && bavail * bsize < size + ROOM_FOR_SIGNATURE) {
    throw fileErrors('disk-full', { doing: COPY });
  }
}

/** Of file systems, on a network mostly, that put no file in the place of another. */
const REFUSED_RENAME = new Set(['EEXIST', 'ENOTSUP', 'EOPNOTSUPP', 'EXDEV', 'ENOSYS', 'EINVAL']);

export async function writeFully(file: Pick<OpenedFile, 'write'>, bytes: Uint8Array, offset: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await file.write(bytes, done, bytes.length - done, offset + done)).bytesWritten;
  }
}

/**
 * Only root may give a file away, and only members may give it to a group: what this user may not, stays theirs, as with
 * any editor that saves through a rename. The set-user-ID bits are dropped: they would speak for another owner. The
 * owner can always write, or a result written elsewhere could not be replaced by the next run's.
 */
export async function takeOwnerAndMode(handle: OpenedFile, stats: FileStats): Promise<void> {
  if (process.platform === 'win32') return;
  // This process has just made it: the answer is in memory, and to have it asked elsewhere takes longer.
  const mine = fstatSync(handle.fd, { bigint: true });
  const [uid, gid] = [Number(stats.uid), Number(stats.gid)];
  if (mine.uid !== stats.uid || mine.gid !== stats.gid) {
    await handle.chown(uid, gid).catch(() => handle.chown(Number(mine.uid), gid).catch(() => undefined));
  }
  await handle.chmod(Number(stats.mode & 0o777n) | 0o200);
}

export interface Placement {
  readonly handle: Pick<OpenedFile, 'fd'>;
  /** Of the open file. */
  readonly path: string;
  readonly target: string;
  /** Whether the target was absent. */
  readonly isNew: boolean;
  /** Called directly before the target is created or replaced. Throws `file-changed`. */
  readonly assertUnchanged: () => void;
}

/**
 * Gives the open file the name of the target, whole or not at all. A target that was absent is created by a link, which never
 * replaces a file; then `path` stays. Throws `file-changed`, `not-replaceable` if the file system does not rename onto a file,
 * and `copy-changed` if another file has taken the name `path`: the target is as it was, unless that happened during the
 * rename itself.
 */
export async function putInPlace({ handle, path, target, isNew, assertUnchanged }: Placement): Promise<void> {
  const own = fstatSync(handle.fd, { bigint: true });
  const doing = 'put the signed file in place';
  const placed = retryWhileBusy(doing, async () => {
    assertIsAt(path, own);
    assertUnchanged();
    if (isNew) {
      if (isLinked({ path, target, assertUnchanged }, own)) return;
      assertUnchanged();
    }
    try {
      renameSync(path, target);
    } catch (thrown) {
      const { code = '' } = thrown as NodeJS.ErrnoException;
      if (!REFUSED_RENAME.has(code)) throw thrown;
      throw signingErrors('not-replaceable', {
        file: 'the target',
        reason: `its file system does not allow it (${code})`,
      });
    }
  });
  await placed.catch((thrown: unknown) => {
    // This user may replace it, as `assertReplaceable` showed; so Windows refuses because another program has it open.
    const isHeld = process.platform === 'win32' && toCodesignError(thrown).code === 'permission-denied';
    throw isHeld ? fileErrors('file-busy', { doing }, { cause: thrown }) : thrown;
  });
  assertIsAt(target, own);
}

/** False where no link can be made, on exFAT for example: a rename follows, and reports what prevents it too. */
function isLinked(
  { path, target, assertUnchanged }: Pick<Placement, 'path' | 'target' | 'assertUnchanged'>,
  own: BigIntStats,
): boolean {
  try {
    linkSync(path, target);
    return true;
  } catch (thrown) {
    if (!hasCode(thrown, 'EEXIST')) return false;
    // NFS says so of its own link too, if the answer to the first request was lost.
    if (isAt(target, own)) return true;
    assertUnchanged();
    throw signingErrors('file-changed');
  }
}

/** Throws `copy-changed` if the path leads to another file, or is a link. If nothing is there, the rename reports that. */
function assertIsAt(path: string, own: BigIntStats): void {
  if (isAt(path, own) === false) throw signingErrors('copy-changed');
}

/** Undefined if nothing is there. */
function isAt(path: string, own: BigIntStats): boolean | undefined {
  const there = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return there && identityOf(there) === identityOf(own);
}

export type OnNotRemoved = (event: TemporaryFileLeft) => void;

/** Never throws: returns what could not be removed. `temporaryFiles` holds what is there. */
export async function removeTemporaryFile(
  path: string,
  temporaryFiles: Set<string>,
  onNotRemoved: OnNotRemoved,
): Promise<void> {
  try {
    await retryWhileBusy('remove the temporary file', () => unlink(path));
  } catch (thrown) {
    // Another process created it first.
    if (toCodesignError(thrown).code !== 'file-not-found') reportNotRemoved(path, thrown, onNotRemoved);
  }
  temporaryFiles.delete(path);
}

export function reportNotRemoved(path: string, thrown: unknown, onNotRemoved: OnNotRemoved): void {
  onNotRemoved({ type: 'temporary-file-left', path, error: toCodesignError(thrown) });
}

/**
 * Creates `path`, which must not be there; a link is not followed. All that follows works on the open file: the name may
 * lead elsewhere by then, where other users may write the folder.
 */
export function createTemporaryFile(path: string, isDirect: boolean): Promise<OpenedFile> {
  return retryWhileBusy(`create a file in ${dirname(path)}`, async () =>
    isDirect ? openDirectly(path, 'wx+', PRIVATE) : await open(path, 'wx+', PRIVATE),
  );
}

/** For this user alone, until it is given the original's owner and mode. */
const PRIVATE = 0o600;
