/** Files that a killed process left next to its targets: only those of a process that has certainly ended are removed. */

import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Holder } from '../../../src/journal/processes.ts';
import { temporaryNames } from '../../../src/signing/files/stale-files.ts';
import { temporaryFolder } from '../../support/programs/cli.ts';

const HOLDER: Holder = { host: 'build-1', boot: 'boot-1', space: 'pid:[1]', pid: 100, started: '5000' };
/** As macOS and Windows tell it. */
const MAC: Holder = { host: 'build-1', pid: 100 };
const HOUR = 60 * 60 * 1000;
const NOW = Date.UTC(2026, 10, 21, 12);
const BOOTED = NOW - 3 * HOUR;

type Running = Readonly<Record<number, boolean | undefined>>;

/** As process `holder` sees it, with these running (undefined: it cannot be known). */
function filesOf(holder: Holder, running: Running = {}) {
  return temporaryNames({
    processes: {
      self: holder,
      // As the system's own answer does it: of another start of this machine nothing runs.
      isRunning: ({ boot, pid }) => (boot === holder.boot ? running[pid] : false),
    },
    randomHex: () => '0123456789abcdef',
    now: () => NOW,
    bootTime: BOOTED,
  });
}

const fileOf = (holder: Holder): string => `.codesign-remote-${filesOf(holder).randomName()}.tmp`;

interface Scene {
  readonly running: Running;
  readonly by?: Holder;
  readonly at?: number;
}

async function leftOf(names: readonly string[], { running, by = HOLDER, at = NOW - HOUR }: Scene) {
  await using folder = await temporaryFolder();
  for (const name of names) {
    await writeFile(join(folder.path, name), 'x');
    await utimes(join(folder.path, name), at / 1000, at / 1000);
  }
  await filesOf(by, running).removeStaleFiles(folder.path);
  return (await readdir(folder.path)).sort();
}

describe('the temporary file of a process', () => {
  const dead = { ...HOLDER, pid: 200 };

  it('is removed when its process has ended', async () => {
    expect(await leftOf([fileOf(dead)], { running: { 200: false } })).toEqual([]);
  });

  it('stays while it is running, however long', async () => {
    const scene = { running: { 200: true }, at: NOW - 48 * HOUR };
    expect(await leftOf([fileOf(dead)], scene)).toEqual([fileOf(dead)]);
  });

  it('is removed when it comes from before a restart of the machine', async () => {
    const name = fileOf({ ...dead, boot: 'boot-0' });
    expect(await leftOf([name], { running: {}, at: BOOTED - HOUR })).toEqual([]);
  });

  it.each<[string, Partial<Holder>, number]>([
    ['of another machine', { host: 'build-2' }, NOW - 48 * HOUR],
    ['of another container', { space: 'pid:[2]' }, NOW - 48 * HOUR],
    ['of another container, before this start of the machine', { space: 'pid:[2]', boot: 'boot-0' }, BOOTED - HOUR],
    ['of a machine with the same name, at work since this one was started', { boot: 'boot-0' }, BOOTED + HOUR],
  ])('stays when it is %s, whose processes cannot be seen', async (_, differs, at) => {
    const name = fileOf({ ...dead, ...differs });
    expect(await leftOf([name], { running: { 200: undefined }, at })).toEqual([name]);
  });

  it('stays if its name reports nothing, or if it is not a temporary file', async () => {
    const names = ['.codesign-remote-0123456789abcdef.tmp', `${fileOf(dead)}.exe`, fileOf(dead).slice(1)].sort();
    expect(await leftOf(names, { running: { 200: false } })).toEqual(names);
  });

  it('does no harm if it cannot be removed, or if the folder is missing', async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, fileOf(dead)));
    await writeFile(join(folder.path, fileOf({ ...dead, pid: 201 })), 'x');
    const files = filesOf(HOLDER, { 200: false, 201: false });
    await files.removeStaleFiles(folder.path);
    await files.removeStaleFiles(join(folder.path, 'missing'));
    expect(await readdir(folder.path)).toEqual([fileOf(dead)]);
  });

  describe('if the system does not report when a process was started', () => {
    const other = { ...MAC, pid: 200 };

    it('is removed when there is no such process', async () => {
      expect(await leftOf([fileOf(other)], { running: { 200: false }, by: MAC })).toEqual([]);
    });

    it.each([
      ['stays for a day', 23, 1],
      ['goes after a day', 25, 0],
    ])('%s when there is one of that number, which may be another program', async (_, hours, left) => {
      const scene = { running: { 200: undefined }, by: MAC, at: NOW - hours * HOUR };
      expect(await leftOf([fileOf(other)], scene)).toHaveLength(left);
    });
  });
});
