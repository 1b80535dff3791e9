/**
 * Files next to the targets of a run, and how those that a killed process left are removed. A lock is there while a run works
 * on a target: of two runs on one file, the second is rejected.
 */

import { closeSync, constants, openSync, readSync } from 'node:fs';
import { link, lstat, open, readdir, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import * as v from 'valibot';
import { fingerprintOf } from '../../crypto/fingerprint.ts';
import { hasCode, unless } from '../../errors/system-reason.ts';
import { whenFree } from '../../files/file-system-errors.ts';
import { type HolderOnRecord, holderSchema, inWords, PRESUMED_ENDED_MILLISECONDS } from '../../journal/processes.ts';
import { signingErrors } from '../errors.ts';
import { type FileOwners, type FileOwnersParts, fileOwners, temporaryPathName } from './file-owners.ts';
import { placeOf } from './target.ts';

export type TargetLock = ReturnType<typeof heldLock>;

/** Called with a file next to the target that cannot be removed, and why. */
type OnLeft = (path: string, thrown: unknown) => void;

/** Throws `target-busy` when another run has it. */
export type LockTarget = (target: string, onLeft?: OnLeft) => Promise<TargetLock>;

interface FoundLock {
  /** Empty when it is not a file of ours. */
  readonly text: string;
  /** Whether it is a file without content: empty, or nothing but zero bytes. */
  readonly isEmptyFile: boolean;
  readonly holder: HolderOnRecord | undefined;
  /** When it was last written, in milliseconds since 1970. */
  readonly touched: number;
}

const LOCK_NAME = /^\.codesign-remote-[0-9a-f]{16}\.lock$/;
const LONGEST_LOCK = 4096;
/** A link instead of a lock is not followed, and a pipe not waited for. Windows has no such flags. */
const LOCK_ITSELF = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const TOUCH_MILLISECONDS = PRESUMED_ENDED_MILLISECONDS / 3;
/** Each turn is lost to another run that has just begun or ended. */
const MOST_TURNS = 5;

/** The same for every spelling of the target's name that the file system takes for one. */
export function lockPathOf(target: string): string {
  const digest = fingerprintOf(placeOf(basename(target))).slice(0, 16);
  return join(dirname(target), `.codesign-remote-${digest}.lock`);
}

export function targetLocks(owners: FileOwners) {
  const { self } = owners;
  const text = JSON.stringify({ ...self, run: owners.randomName() });
  const besides = (path: string): string => join(dirname(path), temporaryPathName(owners.randomName(), 'lock'));

  async function isStale({ holder, touched, isEmptyFile }: FoundLock): Promise<boolean> {
    // A lock is not flushed: after a power failure its name can be on the disk without its content.
    if (isEmptyFile && owners.isFromFormerBoot(touched)) return true;
    const ended = holder && (await owners.hasEnded(holder, touched));
    if (ended !== undefined && !(ended === false && isSelf(holder))) return ended;
    return owners.now() - touched > PRESUMED_ENDED_MILLISECONDS;
  }

  /** Another run in this very process may have been left without a word. */
  function isSelf(holder: FoundLock['holder']): boolean {
    return holder !== undefined && holder.pid === self.pid && owners.isHere(holder);
  }

  /**
   * Moves the lock away first: of several that find it stale one succeeds. Should it have been replaced meanwhile, it
   * is put back, unless there is a new one by then; whose it was finds out before its rename.
   */
  async function takeAway(path: string, { text }: FoundLock): Promise<void> {
    const aside = besides(path);
    await rename(path, aside);
    if ((await findLock(aside))?.text !== text) await link(aside, path).catch(() => undefined);
    await unlink(aside);
  }

  async function makeLock(path: string, onLeft: OnLeft): Promise<TargetLock> {
    const whole = besides(path);
    await writeWhole(whole, text);
    try {
      // Never there without what it holds: a process that is killed in between leaves no lock without an owner.
      await link(whole, path);
    } catch (thrown) {
      if (hasCode(thrown, 'EEXIST')) throw thrown;
      // A file system without hard links.
      await writeWhole(path, text);
    } finally {
      // The lock does not depend on it; a later run recognises this file.
      await whenFree('remove what the lock was made of', () => unlink(whole)).catch((thrown) => onLeft(whole, thrown));
    }
    return heldLock(path, text);
  }

  async function lockTarget(target: string, onLeft: OnLeft = () => undefined): Promise<TargetLock> {
    const path = lockPathOf(target);
    const doing = `create a file in ${dirname(path)}`;
    for (let turn = 1; ; turn++) {
      const made = await whenFree(doing, () => unless('EEXIST', () => makeLock(path, onLeft)));
      if (made !== undefined) return made;
      const found = await whenFree('look at the lock of another run', () => findLock(path));
      if (found === undefined && turn < MOST_TURNS) continue;
      if (found === undefined || turn === MOST_TURNS || !(await isStale(found))) {
        const who =
          found?.holder === undefined ? 'it is unknown which one' : inWords(found.holder, { ...self, run: '' });
        throw signingErrors('target-busy', { name: basename(target), who, lock: path });
      }
      await whenFree(`remove ${path}, which a run has left`, () => unless('ENOENT', () => takeAway(path, found)));
    }
  }

  return {
    lockTarget,
    /** Removes the lock when its run is over. */
    async removeStale(path: string): Promise<void> {
      const found = await findLock(path);
      if (found !== undefined && (await isStale(found))) await takeAway(path, found);
    },
  };
}

function heldLock(path: string, text: string) {
  // A run that cannot be seen from elsewhere counts as ended when its lock is not touched.
  const touching = setInterval(() => void touch(path, text).catch(() => undefined), TOUCH_MILLISECONDS).unref();
  const isHeld = async () => (await unless('ENOENT', () => readLock(path))) === text;
  return {
    path,
    /** Throws `lock-lost` when another run has taken this one for ended. */
    async assertHeld(): Promise<void> {
      if (!(await whenFree('look at the lock', isHeld))) throw signingErrors('lock-lost', { lock: path });
    },
    /** Throws what keeps the lock from being removed. */
    async release(): Promise<void> {
      clearInterval(touching);
      const isRemoved = () => unless('ENOENT', async () => ((await isHeld()) ? await unlink(path) : undefined));
      await whenFree('remove the lock', isRemoved);
    },
  };
}

/** A new file, which does not stay when the disk is full. */
async function writeWhole(path: string, text: string): Promise<void> {
  await using handle = await open(path, 'wx', 0o644);
  try {
    await handle.writeFile(text);
  } catch (thrown) {
    await unlink(path).catch(() => undefined);
    throw thrown;
  }
}

/** By the file's own bytes once more: so the clock is the disk's, for all who look at it. */
async function touch(path: string, text: string): Promise<void> {
  await using handle = await open(path, constants.O_RDWR | LOCK_ITSELF);
  if (textOf(handle.fd) === text) await handle.write(text, 0);
}

/** Undefined without one. */
async function findLock(path: string): Promise<FoundLock | undefined> {
  const stats = await unless('ENOENT', () => lstat(path));
  if (stats === undefined) return undefined;
  // What this user may not read names no owner either; but by now it may be gone.
  const unread = (thrown: unknown) => (hasCode(thrown, 'ENOENT') ? undefined : '');
  const text = stats.isFile() ? await readLock(path).catch(unread) : '';
  if (text === undefined) return undefined;
  const isEmptyFile = stats.isFile() && (stats.size === 0 || /^\0+$/.test(text));
  return { text, isEmptyFile, holder: holderIn(text), touched: stats.mtimeMs };
}

/** Directly: reading so few bytes takes less time than a request to Node's thread pool. */
async function readLock(path: string): Promise<string> {
  const fd = openSync(path, constants.O_RDONLY | LOCK_ITSELF);
  try {
    return textOf(fd);
  } finally {
    closeSync(fd);
  }
}

function textOf(fd: number): string {
  const buffer = Buffer.allocUnsafe(LONGEST_LOCK);
  return buffer.toString('utf8', 0, readSync(fd, buffer, 0, LONGEST_LOCK, 0));
}

function holderIn(text: string): FoundLock['holder'] {
  try {
    const parsed = v.safeParse(holderSchema, JSON.parse(text));
    return parsed.success ? parsed.output : undefined;
  } catch {
    return undefined;
  }
}

/** Of a process whose number another program may have by now: no run writes that long to one file. */
const LEFT_FOR_CERTAIN_MILLISECONDS = 24 * 60 * 60 * 1000;

export function temporaryNames(parts: FileOwnersParts) {
  const owners = fileOwners(parts);
  const { lockTarget, removeStale } = targetLocks(owners);
  const looked = new Set<string>();

  async function removeWhenLeft(folder: string, name: string): Promise<void> {
    const path = join(folder, name);
    if (LOCK_NAME.test(name)) await removeStale(path);
    else if (await isLeft(path, name, owners)) await unlink(path);
  }

  return {
    randomName: owners.randomName,
    lockTarget,
    /**
     * Removes what processes have left in a folder that have certainly ended. Looks once into each folder, and never
     * throws: what cannot be removed does no harm.
     */
    async removeLeft(folder: string): Promise<void> {
      if (looked.has(folder)) return;
      looked.add(folder);
      const names = await readdir(folder).catch(() => []);
      for (const name of names) await removeWhenLeft(folder, name).catch(() => undefined);
    },
  };
}

async function isLeft(path: string, name: string, owners: FileOwners): Promise<boolean> {
  const owner = owners.ownerOf(name);
  if (owner === undefined) return false;
  const touched = (await lstat(path)).mtimeMs;
  const hasEnded = await owners.hasEnded(owner, touched);
  return hasEnded ?? (owners.isHere(owner) && owners.now() - touched > LEFT_FOR_CERTAIN_MILLISECONDS);
}
