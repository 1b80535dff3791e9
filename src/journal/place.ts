/**
 * Checks the folder and the files of the database: they must belong to the current user, and must not be links. Checks
 * the files by name: opening and closing a descriptor of such a file would release SQLite's locks.
 */

import {
  type BigIntStats,
  closeSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
  rmSync,
  statfsSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { flushFolder, foreignLink, isTrustedOwner, makeFolders } from '../bytes/folders.ts';
import { hasCode } from '../errors/system-reason.ts';
import { damaged, journalErrors, refusal } from './errors.ts';

const WRITABLE_BY_OTHERS = 0o022n;
/** Disk space that is reserved now, and released to record paid signatures when the disk is full. */
const SPACE = Buffer.alloc(256 * 1024, 0x20);
const EARLIER = ['calls', 'running'];
/**
 * File system types from statfs(2) of Linux: NFS, SMB, CIFS, SMB 2, 9p, FUSE and virtiofs, vboxsf, AFS, Ceph, GFS2,
 * OCFS2.
 */
const SHARED_FILE_SYSTEMS: ReadonlySet<number> = new Set([
  ...[0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997, 0x65735546, 0x786f4256, 0x5346414f, 0x00c36400],
  ...[0x01161970, 0x7461636f],
]);
/** Offset of the bytes in the database header that show whether there is a write-ahead log. */
const LOG_FORMAT_OFFSET = 18;
const HAS_LOG = 2;

export function databaseIn(folder: string): string {
  return join(folder, 'journal.db');
}

export async function preparePlace(folder: string): Promise<void> {
  assertOwnLinks(folder);
  if (await makeFolders(folder, 0o700)) await flushFolder(dirname(folder));
  checkPlace(folder);
  probe(join(folder, '.probe'));
  // `checkPlace` would report an empty database with reserved space next to it as damaged.
  if (isMissing(databaseIn(folder))) giveUpSpace(folder);
  if (createFile(databaseIn(folder))) await flushFolder(folder);
}

/**
 * Must be called after the tables have been created, because an empty database with reserved space next to it is
 * treated as damaged. If the disk is full, no space is reserved. A request then cannot be recorded, so it is not sent.
 */
export function keepSpace(folder: string): void {
  try {
    if (createFile(spaceIn(folder))) writeFileSync(spaceIn(folder), SPACE);
  } catch {
    giveUpSpace(folder);
  }
}

export function checkPlace(folder: string): void {
  const stats = statSync(folder, { bigint: true });
  if (!stats.isDirectory()) throw refusal(folder, 'is no folder');
  checkOwner(folder, stats);
  for (const name of EARLIER) {
    if (!isMissing(join(folder, name))) throw journalErrors('journal-of-earlier-build', { folder, name });
  }
  // The reserved space is checked first, because another run that creates the journal reserves it after the tables.
  const hasSpace = !isMissing(spaceIn(folder));
  for (const path of [...filesIn(folder), spaceIn(folder)]) {
    const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (found !== undefined && !found.isFile()) throw refusal(path, 'is a link or no file');
    if (found !== undefined) checkOwner(path, found);
  }
  const { size } = lstatSync(databaseIn(folder), { throwIfNoEntry: false }) ?? {};
  if (size === 0 && hasSpace) throw damaged(folder);
}

/** Rejects a database with a write-ahead log on a network or shared file system. */
export function checkShared(database: string): void {
  if (isOpenHere(database)) return;
  const fd = openSync(database, 'r');
  const header = Buffer.alloc(LOG_FORMAT_OFFSET + 2);
  readSync(fd, header, 0, header.length, 0);
  closeSync(fd);
  if (!header.subarray(LOG_FORMAT_OFFSET).includes(HAS_LOG) && isMissing(`${database}-wal`)) return;
  throw refusal(database, 'was made on a local disk, and cannot be used on a network drive: move it back');
}

/**
 * Checks the open files of all threads in this process, because closing a descriptor would release the locks of all
 * threads.
 */
function isOpenHere(path: string): boolean {
  const file = realpathSync(path);
  return readdirSync('/proc/self/fd').some((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === file;
    } catch {
      // The descriptor was closed in the meantime, like the descriptor that was used to list this folder.
      return false;
    }
  });
}

export function assertOwnLinks(folder: string): void {
  const link = foreignLink(folder);
  if (link !== undefined) throw refusal(link, 'is a link of another user');
}

/** Returns the device and the inode of each database file, or `-` for a missing file. */
export function identityOf(folder: string): string {
  const one = (path: string): string => {
    try {
      const { dev, ino } = lstatSync(path, { bigint: true });
      return `${dev}:${ino}`;
    } catch {
      return '-';
    }
  };
  return filesIn(folder).map(one).join(' ');
}

export function giveUpSpace(folder: string): void {
  rmSync(spaceIn(folder), { force: true });
}

function filesIn(folder: string): readonly string[] {
  return ['journal.db', 'journal.db-wal', 'journal.db-shm'].map((name) => join(folder, name));
}

function spaceIn(folder: string): string {
  return join(folder, 'journal.space');
}

export function isMissing(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) === undefined;
}

function createFile(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx', 0o600));
    return true;
  } catch (thrown) {
    if (hasCode(thrown, 'EEXIST')) return false;
    throw thrown;
  }
}

/** In an append-only folder, SQLite could not remove its files. */
function probe(path: string): void {
  createFile(path);
  try {
    // If permission to remove the file is denied, `rmSync` would assume that it is a folder.
    unlinkSync(path);
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT')) return;
    if (!hasCode(thrown, 'EPERM', 'EACCES')) throw thrown;
    throw refusal(dirname(path), 'does not allow files to be removed: is it append-only (chattr +a)?');
  }
}

/** Also rejects sticky folders (mode 1777), which stop other users from removing files, but not from creating them. */
function checkOwner(path: string, { uid, mode }: BigIntStats): void {
  if (!isTrustedOwner(Number(uid))) throw refusal(path, 'belongs to another user');
  if (process.geteuid === undefined || (mode & WRITABLE_BY_OTHERS) === 0n) return;
  throw refusal(
    path,
    `may be written by other users (mode ${(mode & 0o7777n).toString(8)}): chmod 700 makes a folder private`,
  );
}

/** On these file systems, processes on different hosts do not see the same memory, which SQLite's log requires. */
export function isOnNetwork(folder: string): boolean {
  return process.platform === 'linux' && SHARED_FILE_SYSTEMS.has(statfsSync(folder).type);
}
