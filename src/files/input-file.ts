import { type BigIntStats, constants, fstatSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { type ByteSource, type OnRead, watchedSource } from '../bytes/byte-source.ts';
import { fileSource, wholeSource } from '../bytes/file-source.ts';
import { LARGEST_DIRECT, openDirectly } from '../bytes/opened-file.ts';
import { lazy } from '../bytes/reuse.ts';
import { fileErrors } from './errors.ts';
import { assertUtf8Name } from './file-names.ts';
import { inFileSystem, orBrokenLink, retryWhileBusy } from './file-system-errors.ts';
import { isKnownLocal } from './known-local.ts';

/** What identifies a file, and shows whether it has changed. All that is kept of it: of ten thousand files, each counts. */
export type FileStats = Pick<
  BigIntStats,
  'dev' | 'ino' | 'size' | 'mtimeNs' | 'ctimeNs' | 'mode' | 'uid' | 'gid' | 'nlink'
>;

/** The same for all names of one file. */
export function identityOf({ dev, ino }: Pick<FileStats, 'dev' | 'ino'>): string {
  return `${dev}:${ino}`;
}

/** Another one after each write, as far as the file system's clock distinguishes them. */
export function versionOf(stats: Pick<FileStats, 'dev' | 'ino' | 'size' | 'mtimeNs' | 'ctimeNs'>): string {
  return `${identityOf(stats)}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
}

/** Of the file that a path leads to; undefined if it leads to no file, or to one that cannot be reached. */
export function identityAt(path: string): string | undefined {
  try {
    return identityOf(statSync(path, { bigint: true }));
  } catch {
    return undefined;
  }
}

/** Whether `now` is the file that `before` was, untouched. */
export function isUnchanged(before: FileStats, now: FileStats): boolean {
  return versionOf(now) === versionOf(before);
}

export interface InputFile extends AsyncDisposable {
  readonly path: string;
  readonly source: ByteSource;
  readonly stats: FileStats;
  /** True if the file system certainly belongs to this machine alone. */
  readonly isLocal: boolean;
  /** Earlier than the end of the scope; closing twice is harmless. */
  close(): Promise<void>;
}

/** Opening a pipe would wait for its writer without end. Windows has no such flag, and no such pipes. */
export const READ_WITHOUT_WAITING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Bytes from which on reading takes long enough to be watched. */
const LARGE_SIZE = 20_000_000;

/**
 * A small file is read whole. `onRead` receives the progress of reading a large one. Throws `name-not-utf8`, and what the
 * system says against the file.
 */
export async function openInput(path: string, onRead?: OnRead): Promise<InputFile> {
  await assertUtf8Name(path);
  const { isLocal, isSmall, handle } = await retryWhileBusy('read the file', async () => {
    try {
      const there = statSync(path);
      // Some devices act on being opened.
      assertFile(there);
      const isLocal = isKnownLocal(path);
      const isSmall = isLocal && there.size <= LARGEST_DIRECT;
      const handle = isSmall ? openDirectly(path, READ_WITHOUT_WAITING) : await open(path, READ_WITHOUT_WAITING);
      return { isLocal, isSmall, handle };
    } catch (thrown) {
      throw orBrokenLink(thrown, path, 'this');
    }
  });
  try {
    // Just opened, so the answer is in memory: to have it asked elsewhere takes longer.
    const stats = await inFileSystem('read the file', async () => fstatSync(handle.fd, { bigint: true }));
    // Another file may have taken its place.
    assertFile(stats);
    const { dev, ino, size, mtimeNs, ctimeNs, mode, uid, gid, nlink } = stats;
    const kept = { dev, ino, size, mtimeNs, ctimeNs, mode, uid, gid, nlink };
    const close = lazy(() => handle.close());
    const source = isSmall
      ? await inFileSystem('read the file', () => wholeSource(handle, Number(size)))
      : watched(fileSource(handle, Number(size)), onRead);
    return { path, stats: kept, isLocal, source, close, [Symbol.asyncDispose]: close };
  } catch (thrown) {
    await handle.close();
    throw thrown;
  }
}

function assertFile(stats: { isFile(): boolean; isDirectory(): boolean }): void {
  if (stats.isFile()) return;
  throw fileErrors('not-a-file', { kind: stats.isDirectory() ? 'a folder' : 'a pipe, a socket or a device' });
}

function watched(source: ByteSource, onRead: OnRead | undefined): ByteSource {
  return onRead === undefined || source.size < LARGE_SIZE ? source : watchedSource(source, onRead);
}
