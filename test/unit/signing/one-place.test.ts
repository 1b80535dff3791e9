/** Paths that lead to one place are found by what the file system does, not by their text. */

import { existsSync } from 'node:fs';
import { link, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findSamePaths } from '../../../src/signing/files/same-path.ts';

let folder: string;
/** What the file system of the test does. */
let ignoresCase: boolean;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'codesign-one-place-'));
  await mkdir(join(folder, 'case'));
  ignoresCase = existsSync(join(folder, 'CASE'));
  await rm(join(folder, 'case'), { recursive: true });
});
afterEach(() => rm(folder, { recursive: true }));

const find = (...names: readonly string[]) => [...findSamePaths(names.map((name) => join(folder, name)))].length;

it('agrees with the file system on names that differ in case, there or not, and leaves nothing', async () => {
  await mkdir(join(folder, 'there'));
  expect(find('App.exe', 'app.exe')).toBe(ignoresCase ? 2 : 0);
  expect(find('there/App.exe', 'there/app.exe', 'there/x.exe')).toBe(ignoresCase ? 2 : 0);
  expect(find('new/A/app.exe', 'new/a/app.exe')).toBe(ignoresCase ? 2 : 0);
  expect(await readdir(folder, { recursive: true })).toEqual(['there']);
});

it('takes two hard links for two places', async () => {
  if (ignoresCase) return;
  await writeFile(join(folder, 'App.exe'), '');
  await link(join(folder, 'App.exe'), join(folder, 'app.exe'));
  expect(find('App.exe', 'app.exe')).toBe(0);
});

it('takes names that have nothing in common for different places', () => {
  expect(find('a.exe', 'b.exe', 'a/a.exe', 'b/a.exe')).toBe(0);
});
