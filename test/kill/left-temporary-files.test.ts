/** Temporary files that a killed process left: only those of a process that has certainly ended are removed. */

import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Holder, Processes } from '../../src/journal/processes.ts';
import { temporaryNames } from '../../src/signing/left-temporary-files.ts';
import { temporaryFolder } from '../support/cli.ts';

const HOLDER: Holder = { host: 'build-1', boot: 'boot-1', space: 'pid:[1]', pid: 100, started: '5000' };

/** As process `holder` sees it, with these running (undefined: it cannot be told). */
function namesOf(holder: Holder, running: Readonly<Record<number, boolean | undefined>> = {}) {
  const processes: Processes = { self: holder, isRunning: async ({ pid }) => running[pid] };
  return temporaryNames(processes, () => '0123456789abcdef');
}

const fileOf = (holder: Holder): string => `.codesign-remote-${namesOf(holder).randomName()}.tmp`;

async function leftOf(names: readonly string[], running: Readonly<Record<number, boolean | undefined>>) {
  await using folder = await temporaryFolder();
  for (const name of names) await writeFile(join(folder.path, name), 'x');
  await namesOf(HOLDER, running).removeLeft(folder.path);
  return (await readdir(folder.path)).sort();
}

describe('what a process left', () => {
  const dead = { ...HOLDER, pid: 200 };

  it('goes when it has ended', async () => {
    expect(await leftOf([fileOf(dead)], { 200: false })).toEqual([]);
  });

  it.each([true, undefined])('stays while it may be running (%s)', async (running) => {
    expect(await leftOf([fileOf(dead)], { 200: running })).toEqual([fileOf(dead)]);
  });

  it.each([
    ['another machine', { host: 'build-2' }],
    ['another start of the machine', { boot: 'boot-2' }],
    ['another container', { space: 'pid:[2]' }],
  ])('stays when it is of %s, whose processes cannot be seen', async (_, differs) => {
    const name = fileOf({ ...dead, ...differs });
    expect(await leftOf([name], { 200: false })).toEqual([name]);
  });

  it('stays when its name tells nothing, or it is no temporary file at all', async () => {
    const names = ['.codesign-remote-0123456789abcdef.tmp', `${fileOf(dead)}.exe`, fileOf(dead).slice(1)].sort();
    expect(await leftOf(names, { 200: false })).toEqual(names);
  });

  it('harms nobody when it cannot be removed, or the folder is not there', async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, fileOf(dead)));
    await writeFile(join(folder.path, fileOf({ ...dead, pid: 201 })), 'x');
    const names = namesOf(HOLDER, { 200: false, 201: false });
    await names.removeLeft(folder.path);
    await names.removeLeft(join(folder.path, 'missing'));
    expect(await readdir(folder.path)).toEqual([fileOf(dead)]);
  });

  it('is not told by name where the system says nothing of when a process started', () => {
    expect(namesOf({ ...HOLDER, started: undefined }).randomName()).toBe('0123456789abcdef');
  });
});
