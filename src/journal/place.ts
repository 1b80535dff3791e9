/** The folder and the files of the database: this user's alone, and no links. Looks by name, since closing a descriptor of these files drops SQLite's locks. */

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

/** Permission bits of group and others. */
const WRITABLE_BY_OTHERS = 0o022n;
/** Given up on a full disk, for what was paid. */
const SPACE = Buffer.alloc(256 * 1024, 0x20);
/** Folders that earlier builds kept their calls in. */
const EARLIER = ['calls', 'running'];
/** Of Linux, from statfs(2): NFS, SMB, CIFS, SMB 2, 9p, FUSE and virtiofs, vboxsf, AFS, Ceph, GFS2, OCFS2. */
const SHARED_FILE_SYSTEMS: ReadonlySet<number> = new Set([
  ...[0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997, 0x65735546, 0x786f4256, 0x5346414f, 0x00c36400],
  ...[0x01161970, 0x7461636f],
]);
/** Where the header of a database says that it has a log. */
const LOG_FORMAT_OFFSET = 18;
const HAS_LOG = 2;

export function databaseIn(folder: string): string {
  return join(folder, 'journal.db');
}

/** Makes what is missing. Throws system errors and those of `refusal`. */
export async function preparePlace(folder: string): Promise<void> {
  assertOwnLinks(folder);
  if (await makeFolders(folder, 0o700)) await flushFolder(dirname(folder));
  checkPlace(folder);
  probe(join(folder, '.probe'));
  // An empty database next to the space is damaged.
  if (isMissing(databaseIn(folder))) giveUpSpace(folder);
  if (createFile(databaseIn(folder))) await flushFolder(folder);
}

/**
 * Once the database has its tables: an empty one next to the space has lost them. On a full disk there is none: then a request
 * cannot be recorded, and is not sent.
 */
export function keepSpace(folder: string): void {
  try {
    if (createFile(spaceIn(folder))) writeFileSync(spaceIn(folder), SPACE);
  } catch {
    giveUpSpace(folder);
  }
}

/** Folder and files as they must be before SQLite opens them; files may be missing. */
export function checkPlace(folder: string): void {
  const stats = statSync(folder, { bigint: true });
  if (!stats.isDirectory()) throw refusal(folder, 'is no folder');
  checkOwner(folder, stats);
  for (const name of EARLIER) {
    if (!isMissing(join(folder, name))) throw journalErrors('journal-of-earlier-build', { folder, name });
  }
  // First: while the first run of a journal fills it, the space comes after the tables.
  const hasSpace = !isMissing(spaceIn(folder));
  for (const path of [...filesIn(folder), spaceIn(folder)]) {
    const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (found !== undefined && !found.isFile()) throw refusal(path, 'is a link or no file');
    if (found !== undefined) checkOwner(path, found);
  }
  const { size } = lstatSync(databaseIn(folder), { throwIfNoEntry: false }) ?? {};
  if (size === 0 && hasSpace) throw damaged(folder);
}

/** Throws for a database with a log, which is on a network or shared file system. */
export function checkShared(database: string): void {
  // Another run of this process has checked it.
  if (isOpenHere(database)) return;
  const fd = openSync(database, 'r');
  const header = Buffer.alloc(LOG_FORMAT_OFFSET + 2);
  readSync(fd, header, 0, header.length, 0);
  closeSync(fd);
  if (!header.subarray(LOG_FORMAT_OFFSET).includes(HAS_LOG) && isMissing(`${database}-wal`)) return;
  throw refusal(database, 'was made on a local disk, and cannot be used on a network drive: move it back');
}

/** In any thread of this process: closing a descriptor of it would drop the locks of all of them. */
function isOpenHere(path: string): boolean {
  const file = realpathSync(path);
  return readdirSync('/proc/self/fd').some((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === file;
    } catch {
      // It was closed meanwhile, such as the one that reads this folder.
      return false;
    }
  });
}

export function assertOwnLinks(folder: string): void {
  const link = foreignLink(folder);
  if (link !== undefined) throw refusal(link, 'is a link of another user');
}

/** Device and number of each file of the database; `-` for one that is missing. */
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

/** False if it is there. */
function createFile(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx', 0o600));
    return true;
  } catch (thrown) {
    if (hasCode(thrown, 'EEXIST')) return false;
    throw thrown;
  }
}

/** An append-only folder would keep SQLite from removing its files. */
function probe(path: string): void {
  createFile(path);
  try {
    // `rmSync` would take a refusal for a folder.
    unlinkSync(path);
  } catch (thrown) {
    // Another process has removed it.
    if (hasCode(thrown, 'ENOENT')) return;
    if (!hasCode(thrown, 'EPERM', 'EACCES')) throw thrown;
    throw refusal(dirname(path), 'does not allow files to be removed: is it append-only (chattr +a)?');
  }
}

/** A sticky folder (mode 1777) is refused too: it keeps others from removing files, not from creating them. */
function checkOwner(path: string, { uid, mode }: BigIntStats): void {
  if (!isTrustedOwner(Number(uid))) throw refusal(path, 'belongs to another user');
  // Windows does not know such bits.
  if (process.geteuid === undefined || (mode & WRITABLE_BY_OTHERS) === 0n) return;
  throw refusal(
    path,
    `may be written by other users (mode ${(mode & 0o7777n).toString(8)}): chmod 700 makes a folder private`,
  );
}

/** There processes of several hosts have no memory in common, as SQLite's log needs it. */
export function isOnNetwork(folder: string): boolean {
  return process.platform === 'linux' && SHARED_FILE_SYSTEMS.has(statfsSync(folder).type);
}
