/** The lock on file systems that have no hard links, are full, or fail: it is acquired whole or not at all, and nothing stays. */

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Holder } from '../../../../src/journal/processes.ts';
import { fileOwners } from '../../../../src/signing/files/file-owners.ts';
import { lockPathOf, targetLocks } from '../../../../src/signing/files/target-lock.ts';

/** What the system returns for the next calls with a name, before it does the work. */
const { answers } = vi.hoisted(() => ({ answers: new Map<string, (string | undefined)[]>() }));
vi.mock('node:fs', async (importOriginal) => {
  const original = await importOriginal<typeof import('node:fs')>();
  return {
    ...original,
    openSync: (...given: Parameters<typeof original.openSync>) => {
      const code = answers.get('openSync')?.shift();
      if (code !== undefined) throw Object.assign(new Error(code), { code, syscall: 'open' });
      return original.openSync(...given);
    },
  };
});
vi.mock('node:fs/promises', async (importOriginal) => {
  const original = await importOriginal<typeof import('node:fs/promises')>();
  const failing =
    <A extends unknown[], R>(name: string, call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      const code = answers.get(name)?.shift();
      if (code !== undefined) throw Object.assign(new Error(code), { code, syscall: name });
      return await call(...args);
    };
  return {
    ...original,
    link: failing('link', original.link),
    open: failing('open', original.open),
    rename: failing('rename', original.rename),
    unlink: failing('unlink', original.unlink),
  };
});

const SELF: Holder = { host: 'build-1', boot: 'boot-1', space: 'pid:[1]', pid: 100, started: '5000' };

let folder: string;
let target: string;
let lock: string;
beforeEach(async () => {
  answers.clear();
  folder = await mkdtemp(join(tmpdir(), 'codesign-lock-'));
  target = join(folder, 'app.exe');
  lock = lockPathOf(target);
  return () => rm(folder, { recursive: true });
});

let chance = 0;
const { lockTarget } = targetLocks(
  fileOwners({
    processes: { self: SELF, isRunning: async ({ pid }) => pid === SELF.pid },
    randomHex: () => (++chance).toString(16).padStart(16, '0'),
    now: () => Date.now(),
    bootTime: 0,
  }),
);

describe('a lock', () => {
  it.each(['EPERM', 'ENOTSUP', 'ENOSYS'])('is acquired without hard links, too: %s', async (code) => {
    answers.set('link', [code]);
    const held = await lockTarget(target);
    expect(await readdir(folder)).toEqual([lock.slice(folder.length + 1)]);
    expect(JSON.parse(await readFile(lock, 'utf8'))).toMatchObject(SELF);
    await held.assertHeld();
    await expect(lockTarget(target)).rejects.toMatchObject({ code: 'target-busy' });
    await held.release();
    expect(await readdir(folder)).toEqual([]);
  });

  it.each([
    ['ENOSPC', 'disk-full'],
    ['EROFS', 'file-system'],
    ['EACCES', 'permission-denied'],
  ])('that cannot be written is none: %s', async (code, expected) => {
    answers.set('open', [code]);
    await expect(lockTarget(target)).rejects.toMatchObject({ code: expected, category: 'local' });
    expect(await readdir(folder)).toEqual([]);
  });

  it('is acquired when the one that a run has left is taken away by another while it is looked at', async () => {
    await writeFile(lock, JSON.stringify({ ...SELF, pid: 200, run: 'gone' }));
    answers.set('openSync', ['ENOENT']);
    const held = await lockTarget(target);
    expect(answers.get('openSync')).toEqual([]);
    await held.assertHeld();
    await held.release();
    expect(await readdir(folder)).toEqual([]);
  });

  it('is acquired, and given back, although what it was made of cannot be removed', async () => {
    answers.set('unlink', ['EIO']);
    const left: unknown[] = [];
    const held = await lockTarget(target, (path, thrown) => left.push([path, thrown]));
    await held.assertHeld();
    await held.release();
    // A later run removes it, by its name.
    const [name, ...others] = await readdir(folder);
    expect(name).toMatch(/^\.codesign-remote-.+-[0-9a-f]{16}\.lock$/);
    expect(others).toEqual([]);
    expect(left).toEqual([[join(folder, name ?? ''), expect.objectContaining({ code: 'file-system' })]]);
  });

  it('is acquired without a trace when what it was made of is held for a moment only', async () => {
    answers.set('unlink', ['EBUSY', 'EBUSY']);
    const left: unknown[] = [];
    const held = await lockTarget(target, (path) => left.push(path));
    expect(await readdir(folder)).toEqual([lock.slice(folder.length + 1)]);
    await held.release();
    expect(left).toEqual([]);
  });

  it('that cannot be removed in the end is reported', async () => {
    const held = await lockTarget(target);
    answers.set('unlink', ['EIO']);
    await expect(held.release()).rejects.toMatchObject({ code: 'file-system', category: 'local' });
  });

  it('of a run that has ended, which may not be removed, keeps the target from everybody, and says why', async () => {
    await writeFile(lock, JSON.stringify({ ...SELF, pid: 7, run: 'left' }));
    answers.set('rename', ['EACCES']);
    await expect(lockTarget(target)).rejects.toMatchObject({
      code: 'permission-denied',
      message: `no permission to remove ${lock}, which a run has left`,
    });
  });
});
