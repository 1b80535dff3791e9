/** What is remembered of the folders of targets is right for one run, and is not kept for the next. */

import { mkdir, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import {
  assertNoLinkTo,
  assertReplaceable,
  resolveTarget,
  targetFolders,
} from '../../../../src/signing/files/target.ts';
import { temporaryFolder } from '../../../support/programs/cli.ts';

let folder: string;
let output: string;
beforeEach(async () => {
  const made = await temporaryFolder('codesign-target-');
  folder = await realpath(made.path);
  output = join(folder, 'out', 'app.exe');
  await mkdir(join(folder, 'out'));
  await writeFile(output, 'content');
  return () => made[Symbol.asyncDispose]();
});

/** The folder of the result becomes a link to one that holds a file of the same name. */
async function replaceFolder(): Promise<void> {
  await rename(join(folder, 'out'), join(folder, 'moved'));
  await symlink('moved', join(folder, 'out'));
}

it.skipIf(process.platform === 'win32')('the next run follows a link that was made since', async () => {
  expect(await resolveTarget(output, targetFolders())).toBe(output);
  await replaceFolder();
  expect(await resolveTarget(output, targetFolders())).toBe(join(folder, 'moved', 'app.exe'));
});

it('a link is followed, also in a folder that is known', async () => {
  const folders = targetFolders();
  await writeFile(join(folder, 'real.exe'), 'content');
  await rm(output);
  await symlink(join('..', 'real.exe'), output);
  expect(await resolveTarget(join(folder, 'out', 'new.exe'), folders)).toBe(join(folder, 'out', 'new.exe'));
  expect(await resolveTarget(output, folders)).toBe(join(folder, 'real.exe'));
});

it.skipIf(process.platform === 'win32')(
  'a link to another folder is found, as long as the folder is not the same one',
  async () => {
    const { folderIdentity } = await assertReplaceable(output);
    assertNoLinkTo(output, folderIdentity);
    await mkdir(join(folder, 'other'));
    await rename(join(folder, 'out'), join(folder, 'moved'));
    await symlink('other', join(folder, 'out'));
    expect(() => assertNoLinkTo(output, folderIdentity)).toThrow(expect.objectContaining({ code: 'folder-replaced' }));
    expect(() => assertNoLinkTo(output, undefined)).toThrow(expect.objectContaining({ code: 'folder-replaced' }));
  },
);
