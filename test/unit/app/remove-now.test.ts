/** What a second interrupt removes: all that can be, whatever cannot. */

import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { removeNow } from '../../../src/app/compose-local.ts';
import { folderForEach } from '../../support/set-up.ts';

const folder = folderForEach();

it('removes the others when one cannot be removed, and never throws', async () => {
  const paths = ['first.tmp', 'held.tmp', 'gone.tmp', 'last.tmp'].map((name) => folder.at(name));
  const [first = '', held = '', , last = ''] = paths;
  await writeFile(first, '');
  // A folder is what this removal can never take away, on any system.
  await mkdir(held);
  await writeFile(last, '');
  removeNow(new Set(paths));
  expect(await readdir(folder.path)).toEqual(['held.tmp']);
});
