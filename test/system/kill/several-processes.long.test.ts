/** Eight processes concurrently with one journal: each piece of work requested once, nothing torn, no file damaged. */

import { mkdir, readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import type { HistoryEntry } from '../../../src/journal/journal.ts';
import { parseJson, runCliProcess, temporaryFolder } from '../../support/programs/cli.ts';
import { openStateFolder } from '../../support/runs/killed-calls.ts';
import { copyTo, makeOriginals, prepareSubject, type Subject } from '../../support/runs/killed-subjects.ts';
import { useServer } from '../../support/services/shared-server.ts';
import { forAll } from '../../support/set-up.ts';
import { historyOf } from '../../unit/journal/support/setting.ts';

const PROCESSES = 8;
const FILES = 12;

const [server, room] = await Promise.all([forAll(useServer()), forAll(temporaryFolder('codesign-several-'))]);

async function subjectOf(name: string, programs: number): Promise<Subject> {
  const folder = join(room.path, name);
  await mkdir(folder);
  return await prepareSubject(name, await makeOriginals(folder, programs, 0), server);
}

/** Runs the processes concurrently with one journal. */
async function signAtOnce(state: string, batches: readonly (readonly string[])[]) {
  const before = server.operations('sign').length;
  const env = { ...server.env, CODESIGN_STATE_DIR: state };
  const args = ['sign', '--no-timestamp', '--json'];
  const runs = await Promise.all(batches.map((files) => runCliProcess([...args, ...files], { env })));
  return { runs, requests: server.operations('sign').length - before };
}

async function expectReferences(files: readonly string[], { references }: Subject): Promise<void> {
  const different: string[] = [];
  for (const file of files) {
    if (!references.get(basename(file))?.equals(await readFile(file))) different.push(file);
  }
  expect(different).toEqual([]);
}

async function entriesOf(state: string): Promise<readonly HistoryEntry[]> {
  const journal = await openStateFolder(state);
  expect(journal.warnings).toEqual([]);
  return await historyOf(journal);
}

it(`${PROCESSES} processes with ${FILES} files each: an entry and a request for every file`, async () => {
  const subject = await subjectOf('different', PROCESSES * FILES);
  const state = join(room.path, 'state-different');
  const files = await copyTo(join(room.path, 'different-files'), subject.originals);
  const batches = Array.from({ length: PROCESSES }, (_, index) => files.slice(index * FILES, (index + 1) * FILES));

  const { runs, requests } = await signAtOnce(state, batches);

  expect(runs.map(({ code }) => code)).toEqual(batches.map(() => 0));
  expect(requests).toBe(PROCESSES * FILES);
  const entries = await entriesOf(state);
  expect(entries).toHaveLength(PROCESSES * FILES);
  const complete = { outcome: 'written', reported: 1, filesWritten: 1, counted: 'yes' };
  for (const entry of entries) expect(entry).toMatchObject(complete);
  await expectReferences(files, subject);
});

it(`${PROCESSES} processes with copies of the same ${FILES} files: a request for every file`, async () => {
  const subject = await subjectOf('same', FILES);
  const state = join(room.path, 'state-same');
  const folders = Array.from({ length: PROCESSES }, (_, index) => join(room.path, `same-${index}`));
  const batches = await Promise.all(folders.map((folder) => copyTo(folder, subject.originals)));

  const { runs, requests } = await signAtOnce(state, batches);

  expect(runs.map(({ code }) => code)).toEqual(batches.map(() => 0));
  expect(requests).toBe(FILES);
  await expectReferences(batches.flat(), subject);
  const entries = await entriesOf(state);
  expect(entries).toHaveLength(FILES);
  for (const entry of entries) expect(entry).toMatchObject({ outcome: 'written', reported: 1 });
});

it(`${PROCESSES} processes with the very same ${FILES} files in place: no file is damaged`, async () => {
  const subject = await subjectOf('in-place', FILES);
  const folder = join(room.path, 'in-place-files');
  const files = await copyTo(folder, subject.originals);
  const batches = Array.from({ length: PROCESSES }, () => files);

  const { runs, requests } = await signAtOnce(join(room.path, 'state-in-place'), batches);

  expect(requests).toBe(FILES);
  // Another process replaced it, before this one could (`file-changed`) or right after it did (`copy-changed`).
  const failures = runs.flatMap((run) => parseJson(run).files.flatMap(({ error }) => error?.code ?? []));
  expect(failures.filter((code) => code !== 'file-changed' && code !== 'copy-changed')).toEqual([]);
  console.log(`${failures.length} of ${PROCESSES * FILES} found their file changed`);
  await expectReferences(files, subject);
  expect((await readdir(folder)).filter((name) => name.startsWith('.'))).toEqual([]);
});
