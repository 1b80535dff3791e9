import { type BigIntStats, linkSync, lstatSync, renameSync, type StatsFs } from 'node:fs';
import { open, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type OpenedFile, openDirectly } from '../../bytes/file-source.ts';
import { toCodesignError } from '../../errors/codesign-error.ts';
import { hasCode } from '../../errors/system-reason.ts';
import { fileErrors } from '../../files/errors.ts';
import { retryWhileBusy } from '../../files/file-system-errors.ts';
import { type FileStats, identityOf } from '../../files/input-file.ts';
import { signingErrors } from '../errors.ts';
import type { TemporaryFileLeft } from '../outcome.ts';
import type { OwnWrites } from './own-writes.ts';

export const COPY = 'write the temporary file next to the target';

/** Space for the certificates, the timestamp and the padding that are added to the file with a signature. */
const ROOM_FOR_SIGNATURE = 128 * 1024;

export function assertFreeSpace({ bavail, bsize }: StatsFs, size: number): void {
  // Some network shares report that they have 0 blocks of 0 bytes. On such a share, only an attempt to write shows
  // whether there is enough space.
  if (bsize > 0 && bavail * bsize < size + ROOM_FOR_SIGNATURE) {
    throw fileErrors('disk-full', { doing: COPY });
  }
}

/** Errors of file systems, mostly on a network, that do not support renaming over an existing file. */
const REFUSED_RENAME = new Set(['EEXIST', 'ENOTSUP', 'EOPNOTSUPP', 'EXDEV', 'ENOSYS', 'EINVAL']);

export async function writeFully(file: Pick<OpenedFile, 'write'>, bytes: Uint8Array, offset: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await file.write(bytes, done, bytes.length - done, offset + done)).bytesWritten;
  }
}

/**
 * Only root may change the owner, and users may set only a group to which they belong. If the current user may not
 * change the owner or group, the new file keeps its own, as in editors that save by renaming. Clears the set-user-ID
 * bits, because they would grant the rights of a different owner. The owner always gets write permission, so that the
 * next run can replace a result at another path.
 */
export async function takeOwnerAndMode(
  handle: OpenedFile,
  stats: FileStats,
  mine: Pick<FileStats, 'uid' | 'gid'>,
): Promise<void> {
  if (process.platform === 'win32') return;
  const [uid, gid] = [Number(stats.uid), Number(stats.gid)];
  if (mine.uid !== stats.uid || mine.gid !== stats.gid) {
    await handle.chown(uid, gid).catch(() => handle.chown(Number(mine.uid), gid).catch(() => undefined));
  }
  await handle.chmod(Number(stats.mode & 0o777n) | 0o200);
}

export interface Placement {
  readonly own: Pick<OwnWrites, 'created' | 'assertUntouched'>;
  readonly path: string;
  readonly target: string;
  /** True if the target did not exist. */
  readonly isNew: boolean;
  /** Called directly before the target is created or replaced. */
  readonly assertUnchanged: () => void;
}

/**
 * Moves the open file to the target path in one step. If the target did not exist, it is created as a hard link, which
 * never replaces another file. If a hard link was created, `path` still exists afterwards. Throws `copy-changed` if
 * `path` now leads to another file, or another program wrote to it. If an error is thrown, the target is unchanged,
 * unless the rename itself was interrupted.
 */
export async function putInPlace({ own, path, target, isNew, assertUnchanged }: Placement): Promise<void> {
  const doing = 'put the signed file in place';
  const placed = retryWhileBusy(doing, async () => {
    const copy = lookAt(path);
    // If the file is missing, the rename reports that.
    if (copy !== undefined) own.assertUntouched(copy);
    assertUnchanged();
    if (isNew) {
      if (isLinked({ path, target, assertUnchanged }, own.created)) return;
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
    // `assertReplaceable` has shown that the current user may replace the file, so another program must have opened it.
    const isHeld = process.platform === 'win32' && toCodesignError(thrown).code === 'permission-denied';
    throw isHeld ? fileErrors('file-busy', { doing }, { cause: thrown }) : thrown;
  });
  if (isAt(target, own.created) === false) throw signingErrors('copy-changed');
}

/** Returns false if hard links are not supported, as on exFAT. The caller then renames the file. */
function isLinked(
  { path, target, assertUnchanged }: Pick<Placement, 'path' | 'target' | 'assertUnchanged'>,
  own: Identity,
): boolean {
  try {
    linkSync(path, target);
    return true;
  } catch (thrown) {
    if (!hasCode(thrown, 'EEXIST')) return false;
    // NFS also reports this error for a link that this process created, if the response to the first request was lost.
    if (isAt(target, own)) return true;
    assertUnchanged();
    throw signingErrors('file-changed');
  }
}

type Identity = Pick<FileStats, 'dev' | 'ino'>;

function isAt(path: string, own: Identity): boolean | undefined {
  const there = lookAt(path);
  return there && identityOf(there) === identityOf(own);
}

/** Does not follow links. Returns undefined if nothing is at the path. */
function lookAt(path: string): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false });
}

export type OnNotRemoved = (event: TemporaryFileLeft) => void;

/** Never throws. Returns the files that could not be removed. `temporaryFiles` lists all temporary files that exist. */
export async function removeTemporaryFile(
  path: string,
  temporaryFiles: Set<string>,
  onNotRemoved: OnNotRemoved,
): Promise<void> {
  try {
    await retryWhileBusy('remove the temporary file', () => unlink(path));
  } catch (thrown) {
    if (toCodesignError(thrown).code !== 'file-not-found') reportNotRemoved(path, thrown, onNotRemoved);
  }
  temporaryFiles.delete(path);
}

export function reportNotRemoved(path: string, thrown: unknown, onNotRemoved: OnNotRemoved): void {
  onNotRemoved({ type: 'temporary-file-left', path, error: toCodesignError(thrown) });
}

/**
 * All later steps use the open file, because another user with write access to the folder could replace the file at
 * this path.
 */
export function createTemporaryFile(path: string, isDirect: boolean): Promise<OpenedFile> {
  return retryWhileBusy(`create a file in ${dirname(path)}`, async () =>
    isDirect ? openDirectly(path, 'wx+', PRIVATE) : await open(path, 'wx+', PRIVATE),
  );
}

/** Only the current user may access the file until it gets the owner and mode of the original. */
const PRIVATE = 0o600;
