/** The lock of a target: one holder at a time, and those of runs that have ended are no obstacle. */

import { mkdir, readdir, readFile, rm, stat, symlink, unlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Holder, Processes } from '../../../../src/journal/processes.ts';
import { fileOwners } from '../../../../src/signing/files/file-owners.ts';
import {
  type LockTarget,
  lockPathOf,
  type TargetLock,
  targetLocks,
} from '../../../../src/signing/files/target-lock.ts';
import { temporaryFolder } from '../../../support/programs/cli.ts';

const SELF: Holder = { host: 'build-1', boot: 'boot-1', space: 'pid:[1]', pid: 100, started: '5000' };
const MINUTES = 60 * 1000;
let chance = 0;

let folder: string;
let target: string;
let lock: string;
beforeEach(async () => {
  const made = await temporaryFolder('codesign-lock-');
  folder = made.path;
  target = join(folder, 'app.exe');
  lock = lockPathOf(target);
  await writeFile(target, 'x');
  return () => made[Symbol.asyncDispose]();
});

const runs: Processes['isRunning'] = async () => true;
const hasEnded: Processes['isRunning'] = async () => false;
const cannotTell: Processes['isRunning'] = async () => undefined;

/** As process `pid` sees the others. */
function lockingBy(pid: number, isRunning = runs, bootTime = 0): LockTarget {
  const processes = { self: { ...SELF, pid }, isRunning };
  const randomHex = () => (++chance).toString(16).padStart(16, '0');
  return targetLocks(fileOwners({ processes, randomHex, now: () => Date.now(), bootTime })).lockTarget;
}

async function untouchedFor(minutes: number): Promise<void> {
  const at = (Date.now() - minutes * MINUTES) / 1000;
  await utimes(lock, at, at);
}

describe('a target', () => {
  it('has one holder, who is named to others, until it is given back', async () => {
    const first = await lockingBy(1)(target);
    expect(await readdir(folder)).toEqual([expect.stringMatching(/^\.codesign-remote-[0-9a-f]{16}\.lock$/), 'app.exe']);
    await expect(lockingBy(2)(target)).rejects.toMatchObject({
      code: 'target-busy',
      category: 'local',
      message: 'another run is writing app.exe: process 1',
      hint: expect.stringContaining(lock),
    });
    await first.assertHeld();
    await first.release();
    await (await lockingBy(2)(target)).release();
    expect(await readdir(folder)).toEqual(['app.exe']);
  });

  it('does not block another target of the same folder', async () => {
    const locks = [await lockingBy(1)(target), await lockingBy(2)(join(folder, 'b.exe'))];
    for (const held of locks) await held.release();
  });

  it('has a lock of its own among those of its run in the folder', async () => {
    const lockTarget = lockingBy(1);
    const paths = ['app.exe', 'b.exe', 'c.exe'].map((name) => join(folder, name));
    const locks: TargetLock[] = [];
    for (const path of paths) locks.push(await lockTarget(path));
    await expect(lockTarget(target)).rejects.toMatchObject({ code: 'target-busy' });
    await expect(lockingBy(2)(target)).rejects.toMatchObject({ code: 'target-busy' });
    await locks.shift()?.release();
    const again = await lockingBy(2)(target);
    for (const held of [...locks, again]) await held.assertHeld();
    for (const held of [...locks, again]) await held.release();
    expect(await readdir(folder)).toEqual(['app.exe']);
  });

  it('is given to one of many that want it concurrently', async () => {
    const wanted = await Promise.allSettled(Array.from({ length: 20 }, (_, index) => lockingBy(index + 1)(target)));
    const had = wanted.filter(({ status }) => status === 'fulfilled');
    const codes = wanted.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
    expect([had.length, new Set(codes)]).toEqual([1, new Set(['target-busy'])]);
  });

  it('is given to one of many that find the lock of a run that has ended', async () => {
    const rounds = 20;
    let holders = 0;
    for (let round = 0; round < rounds; round++) {
      await writeFile(lock, JSON.stringify({ ...SELF, pid: 999, run: 'dead' }));
      const isRunning: Processes['isRunning'] = async ({ pid }) => pid !== 999;
      const wanted = await Promise.allSettled(
        Array.from({ length: 8 }, (_, index) => lockingBy(index + 1, isRunning)(target)),
      );
      const locks = wanted.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      const held = await Promise.allSettled(locks.map((one) => one.assertHeld()));
      const sure = held.filter(({ status }) => status === 'fulfilled').length;
      expect(sure).toBeLessThanOrEqual(1);
      holders += sure;
      for (const one of locks) await one.release();
      await rm(lock, { force: true });
      expect(await readdir(folder)).toEqual(['app.exe']);
    }
    // Seldom no one: the new one may be treated as the one that was left, and be lost.
    expect(holders).toBeGreaterThan(rounds / 2);
  });
});

describe('the lock of another run', () => {
  const leave = (holder: Partial<Holder> = {}) =>
    writeFile(lock, JSON.stringify({ ...SELF, pid: 7, ...holder, run: 'left' }));

  it('is taken over when its process has ended', async () => {
    await leave();
    const held = await lockingBy(1, hasEnded)(target);
    await held.assertHeld();
    await held.release();
    expect(await readdir(folder)).toEqual(['app.exe']);
  });

  it.each([
    ['is empty', ''],
    ['holds only zero bytes', '\0'.repeat(120)],
  ])('is taken over when it %s and is older than the last start of the machine', async (_what, content) => {
    await writeFile(lock, content);
    await untouchedFor(2);
    await expect(lockingBy(1, cannotTell, Date.now() - 3 * MINUTES)(target)).rejects.toMatchObject({
      code: 'target-busy',
    });
    const held = await lockingBy(1, cannotTell, Date.now() - 1 * MINUTES)(target);
    await held.assertHeld();
    await held.release();
    expect(await readdir(folder)).toEqual(['app.exe']);
  });

  it('is never taken over for its age alone when it names a process on a machine that cannot be seen', async () => {
    await leave({ host: 'build-2', boot: 'other' });
    await untouchedFor(2);
    await expect(lockingBy(1, cannotTell, Date.now() - 1 * MINUTES)(target)).rejects.toMatchObject({
      code: 'target-busy',
    });
  });

  it('holds as long as its process runs', async () => {
    await leave();
    await untouchedFor(60);
    await expect(lockingBy(1)(target)).rejects.toMatchObject({ code: 'target-busy' });
  });

  it.each([14, 16])('holds for 15 minutes without a touch when the owner is unknown: after %d', async (minutes) => {
    await leave({ host: 'build-2' });
    await untouchedFor(minutes);
    const attempt = lockingBy(1, cannotTell)(target);
    if (minutes > 15) await (await attempt).release();
    else await expect(attempt).rejects.toMatchObject({ message: expect.stringContaining('process 7 on build-2') });
  });

  it('holds for as long when it is of this very process', async () => {
    await leave({ pid: 1 });
    await expect(lockingBy(1)(target)).rejects.toMatchObject({ code: 'target-busy' });
    await untouchedFor(16);
    await (await lockingBy(1)(target)).release();
  });

  it.each<[string, (path: string) => Promise<unknown>]>([
    ['is empty', (path) => writeFile(path, '')],
    ['holds something else', (path) => writeFile(path, '{"pid":"no"}')],
    ['is far too long', (path) => writeFile(path, '['.repeat(100_000))],
    ['is a link to nowhere', (path) => symlink('missing', path)],
    ['is a folder', (path) => mkdir(path)],
  ])('holds for now when it reports nothing: it %s', async (_, make) => {
    await make(lock);
    await expect(lockingBy(1, hasEnded)(target)).rejects.toMatchObject({
      code: 'target-busy',
      message: 'another run is writing app.exe: it is unknown which one',
    });
  });
});

it('a lock that was replaced after it was found stale is put back, and holds', async () => {
  await writeFile(lock, JSON.stringify({ ...SELF, pid: 999, run: 'dead' }));
  let faster: TargetLock | undefined;
  const slow = lockingBy(2, async ({ pid }) => {
    if (pid !== 999) return true;
    faster ??= await lockingBy(1, hasEnded)(target);
    return false;
  });
  await expect(slow(target)).rejects.toMatchObject({ message: 'another run is writing app.exe: process 1' });
  await faster?.assertHeld();
  await faster?.release();
  expect(await readdir(folder)).toEqual(['app.exe']);
});

describe('a holder', () => {
  it('finds out that its lock was taken away, and leaves that of the other run', async () => {
    const held = await lockingBy(1)(target);
    await unlink(lock);
    await expect(held.assertHeld()).rejects.toMatchObject({ code: 'lock-lost', category: 'local' });
    const other = await lockingBy(2)(target);
    await expect(held.assertHeld()).rejects.toMatchObject({ code: 'lock-lost' });
    await held.release();
    await other.assertHeld();
    await other.release();
  });

  it('touches its lock while it is at work, and only its own', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const held = await lockingBy(1)(target);
      const text = await readFile(lock, 'utf8');
      await untouchedFor(10);
      vi.advanceTimersByTime(5 * MINUTES);
      await vi.waitFor(async () => expect(Date.now() - (await stat(lock)).mtimeMs).toBeLessThan(MINUTES));
      expect(await readFile(lock, 'utf8')).toBe(text);
      await writeFile(lock, 'of another');
      await untouchedFor(10);
      vi.advanceTimersByTime(5 * MINUTES);
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(await readFile(lock, 'utf8')).toBe('of another');
      expect(Date.now() - (await stat(lock)).mtimeMs).toBeGreaterThan(9 * MINUTES);
      await held.release();
    } finally {
      vi.useRealTimers();
    }
  });
});
