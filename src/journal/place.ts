/**
 * Checks that the folder and the files of the database belong to this user, and are no links. Checks the files by name:
 * closing a descriptor of such a file would release SQLite's locks.
 */

import { type BigIntStats, lstatSync, rmSync, statfsSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { flushFolder, foreignLink, isTrustedOwner, makeFolders } from '../bytes/folders.ts';
import { hasCode } from '../errors/system-reason.ts';
import { damaged, journalErrors, refusal } from './errors.ts';

const WRITABLE_BY_OTHERS = 0o022n;
/** Disk space that is reserved now, and released to record paid signatures when the disk is full. */
const SPACE = Buffer.alloc(256 * 1024, 0x20);
/** Types from statfs(2): NFS, SMB, CIFS, SMB 2, 9p, FUSE and virtiofs, vboxsf, AFS, Ceph, GFS2, OCFS2. */
const SHARED_FILE_SYSTEMS: ReadonlySet<number> = new Set([
  ...[0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997, 0x65735546, 0x786f4256, 0x5346414f, 0x00c36400],
  ...[0x01161970, 0x7461636f],
]);

export const databaseIn = (folder: string): string => join(folder, 'journal.db');
const spaceIn = (folder: string): string => join(folder, 'journal.space');
const filesIn = (folder: string): readonly string[] => ['', '-wal', '-shm'].map((end) => databaseIn(folder) + end);

export async function preparePlace(folder: string): Promise<void> {
  assertOwnLinks(folder);
  if (await makeFolders(folder, 0o700)) await flushFolder(dirname(folder));
  checkPlace(folder);
  probe(join(folder, '.probe'));
  // `checkPlace` would report an empty database with reserved space next to it as damaged.
  if (isMissing(databaseIn(folder))) giveUpSpace(folder);
  if (createFile(databaseIn(folder))) await flushFolder(folder);
}

/** Called after the tables have been created. On a full disk no request can be recorded, so none needs the space. */
export function keepSpace(folder: string): void {
  try {
    createFile(spaceIn(folder), SPACE);
  } catch {
    giveUpSpace(folder);
  }
}

export function checkPlace(folder: string): void {
  const stats = statSync(folder, { bigint: true });
  if (!stats.isDirectory()) throw refusal(folder, 'is no folder');
  // SQLite's log needs memory that is shared by all processes, and processes of two machines share none.
  if (process.platform === 'linux' && SHARED_FILE_SYSTEMS.has(statfsSync(folder).type)) {
    throw refusal(folder, 'is on a network drive or a shared disk, and the journal needs a local disk');
  }
  checkOwner(folder, stats);
  for (const name of ['calls', 'running']) {
    if (!isMissing(join(folder, name))) throw journalErrors('journal-of-earlier-build', { folder, name });
  }
  // The reserved space is checked first, because another run that creates the journal reserves it after the tables.
  const hasSpace = !isMissing(spaceIn(folder));
  for (const path of [spaceIn(folder), ...filesIn(folder)]) {
    const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (found === undefined) continue;
    if (!found.isFile()) throw refusal(path, 'is a link or no file');
    checkOwner(path, found);
    if (path === databaseIn(folder) && found.size === 0n && hasSpace) throw damaged(folder);
  }
}

export function assertOwnLinks(folder: string): void {
  const link = foreignLink(folder);
  if (link !== undefined) throw refusal(link, 'is a link of another user');
}

/** Returns the device and the inode of each database file, or nothing for a missing file. */
export function identityOf(folder: string): string {
  const stats = filesIn(folder).map((path) => {
    try {
      return lstatSync(path, { bigint: true });
    } catch {
      return undefined;
    }
  });
  return stats.map((one) => `${one?.dev}:${one?.ino}`).join(' ');
}

export function giveUpSpace(folder: string): void {
  rmSync(spaceIn(folder), { force: true });
}

export function isMissing(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) === undefined;
}

/** Returns false if the file exists. */
function createFile(path: string, bytes = Buffer.alloc(0)): boolean {
  try {
    writeFileSync(path, bytes, { flag: 'wx', mode: 0o600 });
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
  const octal = (mode & 0o7777n).toString(8);
  throw refusal(path, `may be written by other users (mode ${octal}): chmod 700 makes a folder private`);
}
