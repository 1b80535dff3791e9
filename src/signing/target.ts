/** Where a result goes: links followed, and whether a new file can be renamed to it, found out before anything is spent. */

import { access, constants, readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { CodesignError } from '../errors/codesign-error.ts';
import { fileErrors } from '../files/errors.ts';
import { fromFileSystem, inFileSystem } from '../files/file-system-errors.ts';
import { signingErrors } from './errors.ts';

/** Absolute, with links followed as far as there is something, so that a rename replaces the file and not the link. */
export async function resolveTarget(output: string): Promise<string> {
  try {
    return await realpath(output);
  } catch (thrown) {
    if (!isMissing(thrown)) throw fromFileSystem(thrown, 'find the target');
  }
  // A new file; its folder may be new too, and is made when the file is written.
  const folder = await realpath(dirname(output)).catch(() => resolve(dirname(output)));
  return join(folder, basename(output));
}

/**
 * Throws `not-a-file`, `read-only-file`, `permission-denied` or `not-replaceable`. A rename would replace a read-only
 * file all the same, even for root: signtool's users expect a refusal.
 */
export async function assertReplaceable(target: string): Promise<void> {
  const existing = await stat(target).catch((thrown: unknown) => {
    if (isMissing(thrown)) return undefined;
    throw fromFileSystem(thrown, 'look at the target');
  });
  if (existing) {
    if (!existing.isFile()) {
      throw fileErrors('not-a-file', { kind: existing.isDirectory() ? 'a folder' : 'a pipe, a socket or a device' });
    }
    if ((existing.mode & 0o222) === 0) throw signingErrors('read-only-file', { path: target });
    await inFileSystem('write to the file', () => access(target, constants.W_OK));
    if (await isMountPoint(target)) throw signingErrors('not-replaceable', { path: target, reason: 'it is mounted' });
  }
  const folder = await nearestFolder(dirname(target));
  await inFileSystem(`write to the folder ${folder}`, () => access(folder, constants.W_OK | constants.X_OK));
  if (existing) await assertNotHeldBySticky(target, existing.uid, folder);
}

/** Of the folder and those above it, the first that is there. */
async function nearestFolder(folder: string): Promise<string> {
  const parent = dirname(folder);
  const found = await stat(folder).catch(() => undefined);
  return found || parent === folder ? folder : nearestFolder(parent);
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
  return !(thrown instanceof CodesignError) && (thrown as NodeJS.ErrnoException).code === 'ENOENT';
}
