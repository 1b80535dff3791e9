import { type BigIntStats, fstatSync, lstatSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { type ByteSource, type OnRead, watchedSource } from '../bytes/byte-source.ts';
import { fileSource, LARGEST_DIRECT, localDisks, openDirectly, wholeSource } from '../bytes/file-source.ts';
import { READ_WITHOUT_WAITING } from '../bytes/read-file.ts';
import { lazy } from '../bytes/reuse.ts';
import { fileErrors } from './errors.ts';
import { assertUtf8Name } from './file-names.ts';
import { inFileSystem, orBrokenLink, retryWhileBusy } from './file-system-errors.ts';

/** Contains few fields, because a run may have ten thousand files. */
export type FileStats = Pick<
  BigIntStats,
  'dev' | 'ino' | 'size' | 'mtimeNs' | 'ctimeNs' | 'mode' | 'uid' | 'gid' | 'nlink'
>;

/** Returns the same value for all names of a file. */
export function identityOf({ dev, ino }: Pick<FileStats, 'dev' | 'ino'>): string {
  return `${dev}:${ino}`;
}

/** Changes each time the file is written, if the clock of the file system is precise enough. */
export function versionOf(stats: Pick<FileStats, 'dev' | 'ino' | 'size' | 'mtimeNs' | 'ctimeNs'>): string {
  return `${identityOf(stats)}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
}

/** Follows links. Returns undefined if no file can be reached through the path. */
export function identityAt(path: string): string | undefined {
  try {
    return identityOf(statSync(path, { bigint: true }));
  } catch {
    return undefined;
  }
}

export function isUnchanged(before: FileStats, now: FileStats): boolean {
  return versionOf(now) === versionOf(before);
}

export interface InputFile extends AsyncDisposable {
  readonly path: string;
  readonly source: ByteSource;
  readonly stats: FileStats;
  /** False if another machine may also be able to access the file system. */
  readonly isLocal: boolean;
  /** True if the whole file is in memory. The source can then be used after the file is closed. */
  readonly isInMemory: boolean;
  /** True if the path itself is a link. */
  readonly isLink: boolean;
  /** May be called twice. */
  close(): Promise<void>;
}

const LARGE_SIZE = 20_000_000;

/** Reads a small file immediately. `onRead` is called only for large files. */
export async function openInput(path: string, onRead?: OnRead, isOnLocalDisk = localDisks()): Promise<InputFile> {
  await assertUtf8Name(path);
  const { isLocal, isLink, isSmall, handle } = await retryWhileBusy('read the file', async () => {
    try {
      const named = lstatSync(path);
      const isLink = named.isSymbolicLink();
      const there = isLink ? statSync(path) : named;
      // Checks the path first, because opening a device can have side effects.
      assertFile(there);
      const isLocal = isOnLocalDisk(path, there);
      const isSmall = isLocal && there.size <= LARGEST_DIRECT;
      const handle = isSmall ? openDirectly(path, READ_WITHOUT_WAITING) : await open(path, READ_WITHOUT_WAITING);
      return { isLocal, isLink, isSmall, handle };
    } catch (thrown) {
      throw orBrokenLink(thrown, path, 'this');
    }
  });
  try {
    // A synchronous call is faster than the thread pool here.
    const stats = await inFileSystem('read the file', async () => fstatSync(handle.fd, { bigint: true }));
    // Another file may have replaced the file since the first check.
    assertFile(stats);
    const { dev, ino, size, mtimeNs, ctimeNs, mode, uid, gid, nlink } = stats;
    const kept = { dev, ino, size, mtimeNs, ctimeNs, mode, uid, gid, nlink };
    const close = lazy(() => handle.close());
    const source = isSmall
      ? await inFileSystem('read the file', () => wholeSource(handle, Number(size)))
      : watched(fileSource(handle, Number(size)), onRead);
    const about = { path, stats: kept, isLocal, isLink, isInMemory: isSmall };
    return { ...about, source, close, [Symbol.asyncDispose]: close };
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
