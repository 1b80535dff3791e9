/** The file system decides which paths lead to the same file. */

import { existsSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { beforeEach, expect, it } from 'vitest';
import { findSamePaths } from '../../../src/signing/files/same-path.ts';
import { folderForEach } from '../../support/set-up.ts';

const folder = folderForEach();
/** What the file system of the test does. */
let ignoresCase: boolean;
beforeEach(async () => {
  await mkdir(folder.at('case'));
  ignoresCase = existsSync(folder.at('CASE'));
  await rm(folder.at('case'), { recursive: true });
});

const find = (...names: readonly string[]) => [...findSamePaths(names.map((name) => folder.at(name)))].length;

it('agrees with the file system on names that differ in case, existing or not, and leaves nothing', async () => {
  await mkdir(folder.at('there'));
  expect(find('App.exe', 'app.exe')).toBe(ignoresCase ? 2 : 0);
  expect(find('there/App.exe', 'there/app.exe', 'there/x.exe')).toBe(ignoresCase ? 2 : 0);
  expect(find('new/A/app.exe', 'new/a/app.exe')).toBe(ignoresCase ? 2 : 0);
  expect(await readdir(folder.path, { recursive: true })).toEqual(['there']);
});
