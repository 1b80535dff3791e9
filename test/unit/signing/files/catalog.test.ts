/** Catalogs that a run creates, and files that catalogs of the same run list. */

import { appendFile, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { cat } from '../../../../src/formats/cat/index.ts';
import { readCatalog } from '../../../../src/formats/cat/list.ts';
import { signFiles } from '../../../../src/signing/sign-files.ts';
import { type JournalScene, journalScene } from '../journal-scene.ts';
import type { FlatSigning } from '../signing-run.ts';

const FIRST = new Date('2026-11-21T10:00:00.000Z');
const LATER = new Date('2026-11-22T12:00:00.000Z');

let scene: JournalScene;
let output: string;
let members: readonly string[];
beforeEach(async () => {
  scene = await journalScene();
  output = join(scene.folder, 'files.cat');
  const notes = join(scene.folder, 'notes.txt');
  await writeFile(notes, 'notes');
  members = [(await scene.program('app.exe')).path, notes];
});
afterEach(() => scene[Symbol.asyncDispose]());

async function create(more: FlatSigning = {}) {
  const files = [{ path: output, output, members }];
  const journal = await scene.open();
  const { files: outcomes } = await signFiles(files, scene.signing(journal, more));
  const [outcome] = outcomes;
  if (outcome?.status === 'signed') journal.ended();
  return outcome?.status === 'failed' ? outcome.error.code : outcome?.status;
}

it('creates a catalog with usual permissions, and takes the place of an older one with its permissions', async () => {
  expect(await create({ now: () => FIRST })).toBe('signed');
  const { cms, time, members: listed } = readCatalog(await readFile(output));
  expect({ isSigned: cms !== undefined, time, count: listed.length }).toEqual({
    isSigned: true,
    time: FIRST,
    count: 4,
  });
  expect((await stat(output)).mode & 0o777).toBe(0o666 & ~process.umask());
  expect(await create({ now: () => LATER })).toBe('signed');
  expect(readCatalog(await readFile(output)).time).toEqual(LATER);
});

it('writes nothing in a dry run', async () => {
  expect(await create({ dryRun: true })).toBe('planned');
  await expect(stat(output)).rejects.toMatchObject({ code: 'ENOENT' });
});

it('gives the same list, and uses the signature, after a run that failed with it', async () => {
  const authorities = { stamp: () => Promise.reject(new Error('no timestamp')) };
  expect(await create({ now: () => FIRST, authorities })).toBe('internal');
  await expect(stat(output)).rejects.toMatchObject({ code: 'ENOENT' });
  members = members.toReversed();
  expect(await create({ now: () => LATER })).toBe('signed');
  expect(readCatalog(await readFile(output)).time).toEqual(FIRST);
  expect(scene.service.asked).toBe(1);
});

it('records the files for resume, with absolute paths', async () => {
  const authorities = { stamp: () => Promise.reject(new Error('no timestamp')) };
  await create({ authorities });
  const [call] = await (await scene.open()).unfinished();
  expect(call?.files[0]?.signingOptions).toMatchObject({ path: output, output, members });
});

it('fails before any request if a file cannot be listed', async () => {
  members = [...members, join(scene.folder, 'missing.txt')];
  expect(await create()).toBe('catalog-member-unusable');
  expect(scene.service.asked).toBe(0);
});

it('is not written if a file in it changes meanwhile, nor is a signature requested if it changed before', async () => {
  scene.service.before = () => appendFile(members[1] ?? '', ' that grow');
  expect(await create()).toBe('file-changed');
  await expect(stat(output)).rejects.toMatchObject({ code: 'ENOENT' });
  expect(scene.service.asked).toBe(1);
});

it('rejects a run that would change a file in a catalog that it signs, before any request', async () => {
  await create();
  const [program = '', notes = ''] = members;
  const other = (await scene.program('other.exe')).path;
  const before = scene.service.asked;
  const signing = async (paths: readonly string[]) =>
    signFiles(
      paths.map((path) => ({ path, output: path })),
      scene.signing(await scene.open(), {}),
    );
  await expect(signing([program, output])).rejects.toMatchObject({ code: 'catalog-member-changes' });
  const both = [
    { path: output, output, members: [notes, other] },
    { path: other, output: other },
  ];
  const created = signFiles(both, scene.signing(await scene.open(), {}));
  await expect(created).rejects.toMatchObject({ code: 'catalog-member-changes' });
  expect(scene.service.asked).toBe(before);
  const { files } = await signing([other, output]);
  expect(files.map(({ status, format }) => `${status} ${format}`)).toEqual(['signed pe', `signed ${cat.id}`]);
});
