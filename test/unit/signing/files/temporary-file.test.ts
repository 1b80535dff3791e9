/** The temporary file begins empty or as a clone, by what its file system can; either way private, and no other caller's. */

import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openInput } from '../../../../src/files/input-file.ts';
import { createTemporaryFile } from '../../../../src/signing/files/temporary-file.ts';

const LARGE = randomBytes(1_048_577);
let folder: string;
let path: string;
let original: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'codesign-temporary-'));
  path = join(folder, 'temporary');
  original = join(folder, 'original');
  await writeFile(original, LARGE);
});
afterEach(() => rm(folder, { recursive: true }));

async function create(size = LARGE.length) {
  await using input = await openInput(original);
  const { handle, isClone } = await createTemporaryFile(path, size, input);
  await handle.close();
  return { isClone, bytes: await readFile(path) };
}

test('a large original is cloned, or the file is empty', async () => {
  const { isClone, bytes } = await create();
  expect(bytes).toEqual(isClone ? LARGE : Buffer.alloc(0));
  expect(await readFile(original)).toEqual(LARGE);
});

test.each([0o444, 0o400, 0o755, 0o777])('of an original with mode %o it is private', async (mode) => {
  await chmod(original, mode);
  await create();
  expect((await stat(path)).mode & 0o7777).toBe(0o600);
});

test.each([
  ['small', 1_048_575],
  ['another size than it had', LARGE.length + 1],
])('an original that is %s is not cloned', async (_, size) => {
  const { isClone, bytes } = await create(size);
  expect({ isClone, bytes }).toEqual({ isClone: false, bytes: Buffer.alloc(0) });
});

test('a file that is there stays as it is', async () => {
  await writeFile(path, 'someone else');
  await expect(create()).rejects.toMatchObject({ category: 'local' });
  expect(await readFile(path, 'utf8')).toBe('someone else');
});

test('nothing is left where none could be created', async () => {
  path = join(folder, 'missing', 'temporary');
  await expect(create()).rejects.toMatchObject({ category: 'local' });
  expect(await readdir(folder)).toEqual(['original']);
});
