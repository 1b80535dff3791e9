/** A catalog lists what its files were when it is created: none of them may change meanwhile. */

import { appendFileSync, renameSync, rmSync } from 'node:fs';
import { copyFile, truncate, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { composeReading } from '../../../../src/app/compose-local.ts';
import { readMembers } from '../../../../src/cli/commands/catalog.ts';
import { folderForEach } from '../../../support/set-up.ts';

const folder = folderForEach();

it.each([
  ['changes', (path: string) => appendFileSync(path, 'more')],
  ['is removed', (path: string) => rmSync(path)],
  ['is replaced by an equal file', (path: string) => renameSync(`${path}.copy`, path)],
])('is not created if a file that was already read %s meanwhile', async (_, change) => {
  const [first, last] = [folder.at('notes.txt'), folder.at('third.bin')];
  await writeFile(first, 'notes');
  await copyFile(first, `${first}.copy`);
  // Only large files report that they are being read.
  await writeFile(last, '');
  await truncate(last, 20_000_000);
  let isChanged = false;
  const onRead = () => {
    if (!isChanged) change(first);
    isChanged = true;
  };
  const members = readMembers([first, last], { ...composeReading(), onRead });
  await expect(members).rejects.toMatchObject({ code: 'catalog-member-changed' });
  expect(isChanged).toBe(true);
});
