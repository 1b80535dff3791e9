/** What a second interrupt removes: all that can be, whatever cannot. */

import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { removeNow } from '../../../src/app/compose-local.ts';

it('removes the others when one cannot be removed, and never throws', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'codesign-remove-'));
  try {
    const paths = ['first.tmp', 'held.tmp', 'gone.tmp', 'last.tmp'].map((name) => join(folder, name));
    const [first = '', held = '', , last = ''] = paths;
    await writeFile(first, '');
    // A folder is what this removal can never take away, on any system.
    await mkdir(held);
    await writeFile(last, '');
    removeNow(new Set(paths));
    expect(await readdir(folder)).toEqual(['held.tmp']);
  } finally {
    await rm(folder, { recursive: true });
  }
});
