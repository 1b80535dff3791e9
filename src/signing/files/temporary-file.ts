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

/** Space for certificates, timestamp and padding. */
const ROOM_FOR_SIGNATURE = 128 * 1024;

export function assertFreeSpace({ bavail, bsize }: StatsFs, size: number): void {
  // Some network shares report 0 blocks of 0 bytes. On such a share, only writing
  // shows whether there is enough space.
  if (bsize > 0 && bavail * bsize < size + ROOM_FOR_SIGNATURE) {
    throw fileErrors('disk-full', { doing: COPY });
  }
}

/** Error codes of (mostly network) file systems that do not support renaming over an existing file. */
const REFUSED_RENAME = new Set(['EEXIST', 'ENOTSUP', 'EOPNOTSUPP', 'EXDEV', 'ENOSYS', 'EINVAL']);

export async function writeFully(file: Pick<OpenedFile, 'write'>, bytes: Uint8Array, offset: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await file.write(bytes, done, bytes.length - done, offset + done)).bytesWritten;
  }
}

/**
 * Keeps the new file's owner or group if the current user may not change it, as editors do that save by renaming. Clears
 * the set-user-ID bits, because they would grant the rights of a different owner. Adds write permission for the owner,
 * because the next run must be able to replace the file.
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
 * Moves the open file to the target path in one step. A new target is created as a hard link, which never replaces
 * another file; `path` then still exists. Throws `copy-changed` if another program wrote to the file or replaced it. The
 * target stays unchanged on an error, unless the rename itself was interrupted.
 */
export async function putInPlace({ own, path, target, isNew, assertUnchanged }: Placement): Promise<void> {
  const doing = 'put the signed file in place';
  const placed = retryWhileBusy(doing, async () => {
    const copy = lookAt(path);
    // The rename reports a missing file.
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
    // Planning has shown that the current user may replace the file, so another program must have opened it.
    const isHeld = process.platform === 'win32' && toCodesignError(thrown).code === 'permission-denied';
    throw isHeld ? fileErrors('file-busy', { doing }, { cause: thrown }) : thrown;
  });
  if (isAt(target, own.created) === false) throw signingErrors('copy-changed');
}

/** Returns false if the file system has no hard links, for example exFAT. */
function isLinked(
  { path, target, assertUnchanged }: Pick<Placement, 'path' | 'target' | 'assertUnchanged'>,
  own: Identity,
): boolean {
  try {
    linkSync(path, target);
    return true;
  } catch (thrown) {
    if (!hasCode(thrown, 'EEXIST')) return false;
    // If NFS lost the response to the first request, it reports this error for the link of this process.
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

/** Never throws. */
export async function removeTemporaryFile(
  path: string,
  temporaryFiles: Set<string>,
  onNotRemoved: OnNotRemoved,
): Promise<void> {
  try {
    await retryWhileBusy('remove the temporary file', () => unlink(path));
  } catch (thrown) {
    const error = toCodesignError(thrown);
    if (error.code !== 'file-not-found') onNotRemoved({ type: 'temporary-file-left', path, error });
  }
  temporaryFiles.delete(path);
}

/** Later steps use the open file, because another user with access to the folder could replace the file at the path. */
export function createTemporaryFile(path: string, isDirect: boolean): Promise<OpenedFile> {
  return retryWhileBusy(`create a file in ${dirname(path)}`, async () =>
    isDirect ? openDirectly(path, 'wx+', PRIVATE) : await open(path, 'wx+', PRIVATE),
  );
}

/** Only the current user may access the file until it gets the owner and mode of the original. */
const PRIVATE = 0o600;
