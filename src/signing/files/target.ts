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

/** These results are valid only while one run plans its files, because folders and mounts can change later. */
export type TargetFolders = ReturnType<typeof targetFolders>;

export function targetFolders() {
  return {
    realFolder: memoize(FOLDERS_KEPT, String, realFolder),
    folderOf: memoize(FOLDERS_KEPT, dirname, findFolder),
    mountPoints: lazy(mountPoints),
  };
}

/**
 * Returns an absolute path. Follows links as far as the path exists, so that renaming replaces the file and not the
 * link. Throws `unusable-name` if Windows would change the name, and `name-not-utf8`.
 */
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
  // If the file is new, its folder may also be missing. The folder is created when the file is written.
  return join(folders.realFolder(dirname(output)), basename(output));
}

/** Some drives on Windows (RAM disks, network redirectors) do not support the native function. */
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
 * `target` was returned by `resolveTarget`, so it contains no links. `folderIdentity` identifies the target's folder at
 * planning time, or is undefined if the folder did not exist. If a link appears later, another user may have created it
 * to make root write elsewhere.
 */
export function assertNoLinkTo(target: string, folderIdentity: string | undefined): boolean {
  if (process.platform === 'win32') return false;
  const folder = dirname(target);
  // The folder is accepted if it is still the same one, even if another path now leads to it.
  const isSame = folderIdentity !== undefined && identityAt(folder) === folderIdentity;
  if (!isSame && realFolder(folder) !== folder) throw signingErrors('folder-replaced', { folder });
  return isSame;
}

/** On file systems that ignore case, two names that differ only in case lead to the same file. */
export function placeOf(target: string): string {
  return process.platform === 'win32' || process.platform === 'darwin' ? target.toLowerCase() : target;
}

interface ReplaceableTarget {
  readonly stats: FileStats | undefined;
  readonly folderIdentity: string | undefined;
  /** False if another machine may also be able to access the target. */
  readonly isLocal: boolean;
}

/**
 * Throws `read-only-file`, `permission-denied`, `not-replaceable`, `broken-link` or `output-blocked`. A rename could
 * replace even a read-only file, but users of signtool expect an error, even as root. In messages, `name` appears in
 * place of the target.
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

/** A link to a missing file counts as existing: creating that file would not replace the link. */
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
 * Windows cannot replace a file that another program has open. The file of a running program cannot be opened for
 * writing. If a program does not allow deletion of the file, renaming the file to itself fails.
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
  return new Set(Array.from(mounts().split('\n'), (line) => unescapeMount(line.split(' ')[4] ?? '')));
}

/** Reading this file synchronously is faster, because the kernel creates its content in memory. */
function mounts(): string {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    return '';
  }
}

function unescapeMount(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

function isMissing(thrown: unknown): boolean {
  return hasCode(thrown, 'ENOENT', 'ENOTDIR');
}
