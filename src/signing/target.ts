/** Where a result goes: links followed, and whether a new file can be renamed to it, found out before anything is spent. */

import type { Stats } from 'node:fs';
import { access, constants, readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { CodesignError } from '../errors/codesign-error.ts';
import { fromFileSystem, inFileSystem, orBrokenLink } from '../files/file-system-errors.ts';
import { signingErrors } from './errors.ts';

/** Absolute, with links followed as far as there is something, so that a rename replaces the file and not the link. */
export async function resolveTarget(output: string): Promise<string> {
  try {
    return await realpath(output);
  } catch (thrown) {
    if (!isMissing(thrown)) throw fromFileSystem(thrown, `reach ${output}`);
  }
  // A new file; its folder may be new too, and is made when the file is written.
  const folder = await realpath(dirname(output)).catch(() => resolve(dirname(output)));
  return join(folder, basename(output));
}

/** Where file systems do not tell upper from lower case, two such names are one place. */
export function placeOf(target: string): string {
  return process.platform === 'win32' || process.platform === 'darwin' ? target.toLowerCase() : target;
}

/**
 * Throws `read-only-file`, `permission-denied`, `not-replaceable`, `broken-link` or `output-blocked`. A rename would
 * replace a read-only file all the same, even for root: signtool's users expect a refusal.
 */
export async function assertReplaceable(target: string): Promise<void> {
  const existing = await found(target);
  if (existing) {
    const refuse = (reason: string) => signingErrors('not-replaceable', { path: target, reason });
    if (existing.isDirectory()) throw refuse('it is a folder');
    if (!existing.isFile()) throw refuse('it is a pipe, a socket or a device');
    if ((existing.mode & 0o222) === 0) throw signingErrors('read-only-file', { path: target });
    await inFileSystem(`write to ${target}`, () => access(target, constants.W_OK));
    if (await isMountPoint(target)) throw refuse('it is mounted');
  }
  const folder = await nearestFolder(dirname(target), target);
  await inFileSystem(`write to the folder ${folder}`, () => access(folder, constants.W_OK | constants.X_OK));
  if (existing) await assertNotHeldBySticky(target, existing.uid, folder);
}

/** Undefined when nothing is there. A link that leads nowhere is something: what would be made in its place is no link. */
async function found(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (thrown) {
    const error = await orBrokenLink(thrown, path);
    if (isMissing(error)) return undefined;
    throw fromFileSystem(error, `look at ${path}`);
  }
}

/** Of the folder and those above it, the first that is there. Throws `output-blocked` when that is none. */
async function nearestFolder(folder: string, target: string): Promise<string> {
  const parent = dirname(folder);
  const there = await found(folder);
  if (there && !there.isDirectory()) throw signingErrors('output-blocked', { path: target, blockedBy: folder });
  return there || parent === folder ? folder : nearestFolder(parent, target);
}

/** In a folder such as /tmp only the owners of a file and of the folder, and root, may rename over it. */
async function assertNotHeldBySticky(target: string, owner: number, folder: string): Promise<void> {
  const user = process.getuid?.();
  const { mode, uid } = await inFileSystem('look at the target folder', () => stat(folder));
  if (user === undefined || user === 0 || (mode & STICKY) === 0 || uid === user || owner === user) return;
  const reason = 'it belongs to another user, in a folder where each may replace only their own files';
  throw signingErrors('not-replaceable', { path: target, reason });
}

/** The sticky bit; Node has no constant for it. */
const STICKY = 0o1000;

/** A file mounted by itself, as container programs do, cannot be renamed over. Linux alone tells. */
async function isMountPoint(target: string): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const mounts = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '');
  // The fifth field, with spaces and the like as octal escapes (proc(5)).
  return mounts.split('\n').some((line) => unescapeMount(line.split(' ')[4] ?? '') === target);
}

function unescapeMount(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

function isMissing(thrown: unknown): boolean {
  if (thrown instanceof CodesignError) return false;
  const { code } = thrown as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}
