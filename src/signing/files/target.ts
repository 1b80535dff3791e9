/** Where a result goes: links followed, and whether a new file can be renamed to it, found out before anything is spent. */

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
import { lazy, memoize } from '../../bytes/reuse.ts';
import { hasCode } from '../../errors/system-reason.ts';
import { assertUtf8Name, windowsNameProblem } from '../../files/file-names.ts';
import { fromFileSystem, inFileSystem, orBrokenLink, retryWhileBusy } from '../../files/file-system-errors.ts';
import { identityAt, identityOf } from '../../files/input-file.ts';
import { isKnownLocal } from '../../files/known-local.ts';
import { signingErrors } from '../errors.ts';

/** A run has its files in few folders. */
const FOLDERS_KEPT = 1000;

/**
 * What all targets in a folder have in common is found out once. For one run, while it plans its files: folders and mounts change.
 */
export type TargetFolders = ReturnType<typeof targetFolders>;

export function targetFolders() {
  return {
    realFolder: memoize(FOLDERS_KEPT, String, realFolder),
    /** By a target in it. Throws as `assertReplaceable` does. */
    folderOf: memoize(FOLDERS_KEPT, dirname, findFolder),
    mountPoints: lazy(mountPoints),
  };
}

/**
 * Absolute, with links followed as far as there is something, so that a rename replaces the file and not the link.
 * Throws `unusable-name` for a name under which Windows would not keep the file, and `name-not-utf8`.
 */
export async function resolveTarget(output: string, folders = targetFolders()): Promise<string> {
  const problem = process.platform === 'win32' ? windowsNameProblem(output) : undefined;
  if (problem !== undefined) throw signingErrors('unusable-name', { path: output, problem });
  const target = followed(output, folders);
  await assertUtf8Name(target, true);
  return target;
}

function followed(output: string, folders: TargetFolders): string {
  try {
    // Elsewhere the system may write the name in another way.
    const isPlain = process.platform === 'linux' && lstatSync(output).isFile();
    return isPlain ? join(folders.realFolder(dirname(output)), basename(output)) : realPath(output);
  } catch (thrown) {
    if (!isMissing(thrown)) throw fromFileSystem(thrown, `reach ${output}`);
  }
  // A new file; its folder may be new too, and is made when the file is written.
  return join(folders.realFolder(dirname(output)), basename(output));
}

/** The system's own answer; some Windows drives (RAM disks, network redirectors) do not give one. */
function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (thrown) {
    if (process.platform !== 'win32' || isMissing(thrown)) throw thrown;
    return realpathSync(path);
  }
}

/** What is missing keeps its name. */
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
 * `target`: from `resolveTarget`, so without links. `folderIdentity`: of its folder when it was planned; undefined if that was
 * absent. A link in the path was made since, perhaps by another user to have root write elsewhere. Throws `folder-replaced`.
 */
export function assertNoLinkTo(target: string, folderIdentity: string | undefined): void {
  if (process.platform === 'win32') return;
  const folder = dirname(target);
  // The same folder is the right one, whatever the way to it.
  const isSame = folderIdentity !== undefined && identityAt(folder) === folderIdentity;
  if (!isSame && realFolder(folder) !== folder) throw signingErrors('folder-replaced', { folder });
}

/** Where file systems ignore case, two names that differ in case are the same path. */
export function placeOf(target: string): string {
  return process.platform === 'win32' || process.platform === 'darwin' ? target.toLowerCase() : target;
}

interface ReplaceableTarget {
  /** Undefined if it is absent. */
  readonly stats: BigIntStats | undefined;
  /** Of its folder; undefined if that is absent. */
  readonly folderIdentity: string | undefined;
  /** Whether it will certainly be on a file system of this machine alone. */
  readonly isLocal: boolean;
}

/**
 * Throws `read-only-file`, `permission-denied`, `not-replaceable`, `broken-link` or `output-blocked`. A rename would
 * replace a read-only file nevertheless, even for root: signtool's users expect a refusal. `name`: how messages call the target.
 */
export async function assertReplaceable(
  target: string,
  name = target,
  folders = targetFolders(),
): Promise<ReplaceableTarget> {
  const existing = found(target);
  if (existing) {
    const refuse = (reason: string) => signingErrors('not-replaceable', { file: name, reason });
    if (existing.isDirectory()) throw refuse('it is a folder');
    if (!existing.isFile()) throw refuse('it is a pipe, a socket or a device');
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

/** Undefined when nothing is there. A link that leads nowhere is something: what would be made in its place is no link. */
function found(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true });
  } catch (thrown) {
    const error = orBrokenLink(thrown, path, path);
    if (isMissing(error)) return undefined;
    throw fromFileSystem(error, `look at ${path}`);
  }
}

/** Of the folder and those above it, the first that is there. Throws `output-blocked` if that is not a folder. */
function nearestFolder(path: string, target: string): { readonly path: string; readonly stats?: BigIntStats } {
  const parent = dirname(path);
  const stats = found(path);
  if (stats && !stats.isDirectory()) throw signingErrors('output-blocked', { path: target, blockedBy: path });
  if (stats) return { path, stats };
  return parent === path ? { path } : nearestFolder(parent, target);
}

/**
 * On Windows a file that another program has open cannot be replaced. Opening it for writing shows a running program, and
 * renaming it to itself a holder that does not allow deletion. Throws `file-busy`.
 */
async function assertNotHeld(target: string, name: string): Promise<void> {
  await retryWhileBusy(`replace ${name}`, async () => {
    closeSync(openSync(target, 'r+'));
    renameSync(target, target);
  });
}

/** In a folder such as /tmp only the owners of a file and of the folder, and root, may rename over it. */
function assertNotHeldBySticky(file: string, owner: bigint, folder: BigIntStats | undefined): void {
  const user = process.getuid?.();
  if (user === undefined || user === 0 || folder === undefined) return;
  const { mode, uid } = folder;
  if ((mode & STICKY) === 0n || uid === BigInt(user) || owner === BigInt(user)) return;
  const reason = 'it belongs to another user, in a folder where each may replace only their own files';
  throw signingErrors('not-replaceable', { file, reason });
}

/** The sticky bit; Node has no constant for it. */
const STICKY = 0o1000n;

/** A file mounted by itself, as container programs do, cannot be renamed over. Only Linux says so. */
function mountPoints(): ReadonlySet<string> {
  if (process.platform !== 'linux') return new Set();
  // The fifth field, with spaces and the like as octal escapes (proc(5)).
  return new Set(Array.from(mounts().split('\n'), (line) => unescapeMount(line.split(' ')[4] ?? '')));
}

/** No disk is behind it: to have it read elsewhere takes longer than reading it. */
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
