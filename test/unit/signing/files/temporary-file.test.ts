/** The temporary file is private, and never another file that has its name. */

import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { createTemporaryFile } from '../../../../src/signing/files/temporary-file.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'codesign-temporary-'));
  path = join(folder, 'temporary');
  return () => rm(folder, { recursive: true });
});

test('it is empty, and only its owner may read it', async () => {
  await (await createTemporaryFile(path)).close();
  expect((await stat(path)).mode & 0o7777).toBe(0o600);
  expect(await readFile(path)).toEqual(Buffer.alloc(0));
});

test('a file that is there stays as it is', async () => {
  await writeFile(path, 'of another program');
  await expect(createTemporaryFile(path)).rejects.toMatchObject({ category: 'local' });
  expect(await readFile(path, 'utf8')).toBe('of another program');
});

test('nothing is left where none can be created', async () => {
  await expect(createTemporaryFile(join(folder, 'missing', 'temporary'))).rejects.toMatchObject({ category: 'local' });
  expect(await readdir(folder)).toEqual([]);
});
