/** Files that a killed process left next to its targets: only those of a process that has certainly ended are removed. */

import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { Holder } from '../../../src/journal/processes.ts';
import { temporaryNames } from '../../../src/signing/files/stale-files.ts';
import { folderForEach } from '../../support/set-up.ts';

const folder = folderForEach();
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

async function leftOf(names: readonly string[], by: Holder, running: Running, at = NOW - HOUR) {
  for (const name of names) {
    await writeFile(folder.at(name), 'x');
    await utimes(folder.at(name), at / 1000, at / 1000);
  }
  await filesOf(by, running).removeStaleFiles(folder.path);
  return (await readdir(folder.path)).sort();
}

describe('the temporary file of a process', () => {
  const dead = { ...HOLDER, pid: 200 };
  const LONG_AGO = NOW - 48 * HOUR;

  it.each<[string, Partial<Holder>, boolean | undefined, number, isLeft: boolean]>([
    ['whose process has ended', {}, false, NOW - HOUR, false],
    ['whose process is running, however long', {}, true, LONG_AGO, true],
    ['from before a restart of the machine', { boot: 'boot-0' }, undefined, BOOTED - HOUR, false],
    ['of another machine', { host: 'build-2' }, undefined, LONG_AGO, true],
    ['of another container', { space: 'pid:[2]' }, undefined, LONG_AGO, true],
    ['of another container, before a restart', { space: 'pid:[2]', boot: 'boot-0' }, undefined, BOOTED - HOUR, true],
    ['of a machine with the same name, in use since', { boot: 'boot-0' }, undefined, BOOTED + HOUR, true],
  ])('%s', async (_, differs, running, at, isLeft) => {
    const name = fileOf({ ...dead, ...differs });
    expect(await leftOf([name], HOLDER, { 200: running }, at)).toEqual(isLeft ? [name] : []);
  });

  it.each<[string, boolean | undefined, number, isLeft: boolean]>([
    ['is removed when there is no such process', false, 1, false],
    ['stays for a day when there is one of that number, which may be another program', undefined, 23, true],
    ['is removed after a day', undefined, 25, false],
  ])('if the system does not report when a process was started, it %s', async (_, running, hours, isLeft) => {
    const name = fileOf({ ...MAC, pid: 200 });
    expect(await leftOf([name], MAC, { 200: running }, NOW - hours * HOUR)).toEqual(isLeft ? [name] : []);
  });

  it('stays if its name reports nothing, or if it is not a temporary file', async () => {
    const names = ['.codesign-remote-0123456789abcdef.tmp', `${fileOf(dead)}.exe`, fileOf(dead).slice(1)].sort();
    expect(await leftOf(names, HOLDER, { 200: false })).toEqual(names);
  });

  it('does no harm if it cannot be removed, or if the folder is missing', async () => {
    await mkdir(folder.at(fileOf(dead)));
    await writeFile(folder.at(fileOf({ ...dead, pid: 201 })), 'x');
    const files = filesOf(HOLDER, { 200: false, 201: false });
    await files.removeStaleFiles(folder.path);
    await files.removeStaleFiles(folder.at('missing'));
    expect(await readdir(folder.path)).toEqual([fileOf(dead)]);
  });
});
