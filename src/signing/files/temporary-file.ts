import { type BigIntStats, fstatSync, linkSync, lstatSync, renameSync, type StatsFs } from 'node:fs';
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

export const COPY = 'write the temporary file next to the target';

/** Space for certificates, a timestamp and alignment, which a signature adds to the file. */
const ROOM_FOR_SIGNATURE = 128 * 1024;

/** Throws `disk-full` if the file system has no space for a copy of `size` bytes and a signature. */
export function assertFreeSpace({ bavail, bsize }: StatsFs, size: number): void {
  // Some network shares report 0 blocks of 0 bytes. Then the write shows whether there is space.
  if (bsize > 0 && bavail * bsize < size + ROOM_FOR_SIGNATURE) {
    throw fileErrors('disk-full', { doing: COPY });
  }
}

/** Error codes of file systems, mostly network file systems, that cannot rename over an existing file. */
const REFUSED_RENAME = new Set(['EEXIST', 'ENOTSUP', 'EOPNOTSUPP', 'EXDEV', 'ENOSYS', 'EINVAL']);

export async function writeFully(file: Pick<OpenedFile, 'write'>, bytes: Uint8Array, offset: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await file.write(bytes, done, bytes.length - done, offset + done)).bytesWritten;
  }
}

/**
 * Only root may change the owner, and only members may set a group. If this user may not, the file keeps its own, as
 * with any editor that saves through a rename. Drops the set-user-ID bits, because they would give another owner's
 * rights. The owner can always write. Otherwise the next run could not replace a result that was written elsewhere.
 */
export async function takeOwnerAndMode(handle: OpenedFile, stats: FileStats): Promise<void> {
  if (process.platform === 'win32') return;
  // Runs synchronously: this process has just created the file, so the answer is in memory.
  const mine = fstatSync(handle.fd, { bigint: true });
  const [uid, gid] = [Number(stats.uid), Number(stats.gid)];
  if (mine.uid !== stats.uid || mine.gid !== stats.gid) {
    await handle.chown(uid, gid).catch(() => handle.chown(Number(mine.uid), gid).catch(() => undefined));
  }
  await handle.chmod(Number(stats.mode & 0o777n) | 0o200);
}

export interface Placement {
  readonly handle: Pick<OpenedFile, 'fd'>;
  /** Path of the open file. */
  readonly path: string;
  readonly target: string;
  /** Set if the target was absent. */
  readonly isNew: boolean;
  /** Called directly before the target is created or replaced. Throws `file-changed`. */
  readonly assertUnchanged: () => void;
}

/**
 * Renames the open file to the target in one step. A target that was absent is created by a link, which never replaces
 * a file. In that case `path` stays. Throws `file-changed`, `not-replaceable` if the file system cannot rename over a
 * file, and `copy-changed` if another file has taken the name `path`. The target stays unchanged, unless the error
 * occurred during the rename itself.
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
    // `assertReplaceable` showed that this user may replace it, so another program has it open.
    const isHeld = process.platform === 'win32' && toCodesignError(thrown).code === 'permission-denied';
    throw isHeld ? fileErrors('file-busy', { doing }, { cause: thrown }) : thrown;
  });
  assertIsAt(target, own);
}

/** Returns false if links are not supported, for example on exFAT. A rename follows, and reports other problems too. */
function isLinked(
  { path, target, assertUnchanged }: Pick<Placement, 'path' | 'target' | 'assertUnchanged'>,
  own: BigIntStats,
): boolean {
  try {
    linkSync(path, target);
    return true;
  } catch (thrown) {
    if (!hasCode(thrown, 'EEXIST')) return false;
    // NFS reports this for its own link too, if the answer to the first request was lost.
    if (isAt(target, own)) return true;
    assertUnchanged();
    throw signingErrors('file-changed');
  }
}

/**
 * Throws `copy-changed` if the path leads to another file, or is a link. If nothing exists there, the rename reports
 * that.
 */
function assertIsAt(path: string, own: BigIntStats): void {
  if (isAt(path, own) === false) throw signingErrors('copy-changed');
}

/** undefined if nothing exists there. */
function isAt(path: string, own: BigIntStats): boolean | undefined {
  const there = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return there && identityOf(there) === identityOf(own);
}

export type OnNotRemoved = (event: TemporaryFileLeft) => void;

/** Never throws. Returns the files that could not be removed. `temporaryFiles` contains the existing files. */
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
 * Creates `path`, which must not exist. Links are not followed. All later steps use the open file, because another user
 * who may write to the folder could replace the name.
 */
export function createTemporaryFile(path: string, isDirect: boolean): Promise<OpenedFile> {
  return retryWhileBusy(`create a file in ${dirname(path)}`, async () =>
    isDirect ? openDirectly(path, 'wx+', PRIVATE) : await open(path, 'wx+', PRIVATE),
  );
}

/** Private to this user until it gets the original's owner and mode. */
const PRIVATE = 0o600;
