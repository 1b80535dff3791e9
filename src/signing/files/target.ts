/** Resolves the path of a result and its links. Checks early that a new file can be renamed to that path. */

import {
  accessSync,
  type BigIntStats,
  closeSync,
  constants,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isKnownLocal } from '../../bytes/file-source.ts';
import { lazy, memoize } from '../../bytes/reuse.ts';
import { hasCode } from '../../errors/system-reason.ts';
import { assertUtf8Name, windowsNameProblem } from '../../files/file-names.ts';
import { fromFileSystem, inFileSystem, orBrokenLink, retryWhileBusy } from '../../files/file-system-errors.ts';
import { type FileStats, identityAt, identityOf } from '../../files/input-file.ts';
import { signingErrors } from '../errors.ts';

const FOLDERS_KEPT = 1000;

/** These lookups are valid only while a run plans its files, because folders and mounts can change later. */
export type TargetFolders = ReturnType<typeof targetFolders>;

export function targetFolders() {
  return {
    realFolder: memoize(FOLDERS_KEPT, String, realFolder),
    folderOf: memoize(FOLDERS_KEPT, dirname, findFolder),
    mountPoints: lazy(mountPoints),
  };
}

/** Returns an absolute path without links, because renaming to a link would replace the link and not the file. */
export async function resolveTarget(output: string, folders = targetFolders(), isFile = false): Promise<string> {
  const problem = process.platform === 'win32' ? windowsNameProblem(output) : undefined;
  if (problem !== undefined) throw signingErrors('unusable-name', { path: output, problem });
  const target = followed(output, folders, isFile);
  await assertUtf8Name(target, true);
  return target;
}

function followed(output: string, folders: TargetFolders, isFile: boolean): string {
  try {
    // Other systems may store the file name in a different form.
    const isPlain = process.platform === 'linux' && (isFile || lstatSync(output).isFile());
    return isPlain ? join(folders.realFolder(dirname(output)), basename(output)) : realPath(output);
  } catch (thrown) {
    if (!isMissing(thrown)) throw fromFileSystem(thrown, `reach ${output}`);
  }
  // The folder of a new file may be missing too, because it is created when the file is written.
  return join(folders.realFolder(dirname(output)), basename(output));
}

/** On Windows, RAM disks and network redirectors may not support the native function. */
function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (thrown) {
    if (process.platform !== 'win32' || isMissing(thrown)) throw thrown;
    return realpathSync(path);
  }
}

function realFolder(path: string): string {
  const whole = resolve(path);
  const parent = dirname(whole);
  try {
    return realPath(whole);
  } catch {
    return parent === whole ? whole : join(realFolder(parent), basename(whole));
  }
}

/**
 * `resolveTarget` has already replaced links in `target`. But since then, another user may have created a link to make
 * root write elsewhere. Returns true if the folder is known to be that of `folderIdentity`.
 */
export function assertNoLinkTo(target: string, folderIdentity: string | undefined): boolean {
  if (process.platform === 'win32') return false;
  const folder = dirname(target);
  const isSame = folderIdentity !== undefined && identityAt(folder) === folderIdentity;
  if (!isSame && realFolder(folder) !== folder) throw signingErrors('folder-replaced', { folder });
  return isSame;
}

interface ReplaceableTarget {
  readonly stats: FileStats | undefined;
  readonly folderIdentity: string | undefined;
  /** False if another machine may also be able to access the target. */
  readonly isLocal: boolean;
}

/**
 * A rename could replace even a read-only file, but users of signtool expect an error, even as root. In messages, `name`
 * stands for the target.
 */
export async function assertReplaceable(
  target: string,
  name = target,
  folders = targetFolders(),
  known?: FileStats,
): Promise<ReplaceableTarget> {
  const refuse = (reason: string) => signingErrors('not-replaceable', { file: name, reason });
  const there = known ? undefined : found(target);
  if (there?.isDirectory()) throw refuse('it is a folder');
  if (there?.isFile() === false) throw refuse('it is a pipe, a socket or a device');
  const existing = known ?? there;
  if (existing) {
    if ((existing.mode & 0o222n) === 0n) throw signingErrors('read-only-file', { file: name });
    await inFileSystem(`write to ${name}`, async () => accessSync(target, constants.W_OK));
    if (process.platform === 'win32') await assertNotHeld(target, name);
    if (folders.mountPoints().has(target)) throw refuse('it is mounted');
  }
  const folder = folders.folderOf(target);
  if (existing) assertNotHeldBySticky(name, existing.uid, folder.stats);
  const isThere = folder.path === dirname(target);
  const folderIdentity = isThere && folder.stats ? identityOf(folder.stats) : undefined;
  return { stats: existing, folderIdentity, isLocal: folder.isLocal };
}

function findFolder(target: string) {
  const folder = nearestFolder(dirname(target), target);
  try {
    accessSync(folder.path, constants.W_OK | constants.X_OK);
    return { ...folder, isLocal: isKnownLocal(folder.path) };
  } catch (thrown) {
    throw fromFileSystem(thrown, `write to the folder ${folder.path}`);
  }
}

/** Throws `broken-link` for a link to a missing file, because creating that file would not replace the link. */
function found(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true });
  } catch (thrown) {
    const error = orBrokenLink(thrown, path, path);
    if (isMissing(error)) return undefined;
    throw fromFileSystem(error, `look at ${path}`);
  }
}

function nearestFolder(path: string, target: string): { readonly path: string; readonly stats?: BigIntStats } {
  const parent = dirname(path);
  const stats = found(path);
  if (stats && !stats.isDirectory()) throw signingErrors('output-blocked', { path: target, blockedBy: path });
  if (stats) return { path, stats };
  return parent === path ? { path } : nearestFolder(parent, target);
}

/**
 * Windows cannot replace a file that another program has open. Opening a running program for writing fails. Renaming a
 * file to itself fails if another program does not allow its deletion.
 */
async function assertNotHeld(target: string, name: string): Promise<void> {
  await retryWhileBusy(`replace ${name}`, async () => {
    closeSync(openSync(target, 'r+'));
    renameSync(target, target);
  });
}

/** In a folder such as /tmp, only root and the owners of the file and of the folder may replace a file. */
function assertNotHeldBySticky(file: string, owner: bigint, folder: BigIntStats | undefined): void {
  if (folder === undefined || (folder.mode & STICKY) === 0n) return;
  const user = process.getuid?.();
  if (user === undefined || user === 0 || folder.uid === BigInt(user) || owner === BigInt(user)) return;
  const reason = 'it belongs to another user, in a folder where each may replace only their own files';
  throw signingErrors('not-replaceable', { file, reason });
}

/** Node.js does not define a constant for the sticky bit. */
const STICKY = 0o1000n;

/** A file that is a mount point (as in containers) cannot be replaced by a rename. Only Linux lists mount points. */
function mountPoints(): ReadonlySet<string> {
  if (process.platform !== 'linux') return new Set();
  // The fifth field contains spaces and other special characters as octal escape sequences (proc(5)).
  const character = (_: string, octal: string): string => String.fromCharCode(Number.parseInt(octal, 8));
  try {
    const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
    return new Set(lines.map((line) => (line.split(' ')[4] ?? '').replace(/\\([0-7]{3})/g, character)));
  } catch {
    return new Set();
  }
}

function isMissing(thrown: unknown): boolean {
  return hasCode(thrown, 'ENOENT', 'ENOTDIR');
}
