import { mkdir, realpath, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import {
  assertNoLinkTo,
  assertReplaceable,
  resolveTarget,
  targetFolders,
} from '../../../../src/signing/files/target.ts';
import { folderForEach } from '../../../support/set-up.ts';

const place = folderForEach();
let folder: string;
let output: string;
beforeEach(async () => {
  folder = await realpath(place.path);
  output = join(folder, 'out', 'app.exe');
  await mkdir(join(folder, 'out'));
  await writeFile(output, 'content');
});

/** The folder of the result becomes a link to another one. */
async function replaceFolder(to: string): Promise<void> {
  await rename(join(folder, 'out'), join(folder, 'moved'));
  await symlink(to, join(folder, 'out'));
}

it.skipIf(process.platform === 'win32')(
  'follows a link of the file, and in the next run one of the folder',
  async () => {
    const [folders, link] = [targetFolders(), join(folder, 'out', 'link.exe')];
    await writeFile(join(folder, 'real.exe'), 'content');
    await symlink(join('..', 'real.exe'), link);
    expect(await resolveTarget(output, folders)).toBe(output);
    expect(await resolveTarget(link, folders)).toBe(join(folder, 'real.exe'));
    await replaceFolder('moved');
    expect(await resolveTarget(output, targetFolders())).toBe(join(folder, 'moved', 'app.exe'));
  },
);

it.skipIf(process.platform === 'win32')('finds a link to another folder', async () => {
  const { folderIdentity } = await assertReplaceable(output);
  assertNoLinkTo(output, folderIdentity);
  await mkdir(join(folder, 'other'));
  await replaceFolder('other');
  const replaced = expect.objectContaining({ code: 'folder-replaced' });
  expect(() => assertNoLinkTo(output, folderIdentity)).toThrow(replaced);
  expect(() => assertNoLinkTo(output, undefined)).toThrow(replaced);
});
