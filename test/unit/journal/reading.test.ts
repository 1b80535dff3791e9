/** The journal as it is only read: all that is in it is reported, and nothing is made or changed. */

import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import type { Journal, JournalReading } from '../../../src/journal/journal.ts';
import { readJournal } from '../../../src/journal/open-journal.ts';
import { forEach } from '../../support/set-up.ts';
import {
  askingOf,
  claimOf,
  end,
  journalSetting,
  requestedClaim,
  signAndReport,
  signedClaim,
} from './support/setting.ts';

const setting = forEach(journalSetting);
let journal: Journal;
beforeEach(async () => {
  journal = await setting.open();
});

async function read(folder = setting.folder): Promise<JournalReading> {
  return await readJournal(setting.options({ folder }));
}

async function outcomes(reading: JournalReading) {
  const found: (readonly [string, string, string])[] = [];
  for await (const { file, outcome, counted } of reading.history()) found.push([file, outcome, counted]);
  return found;
}

const TABLES = ['runs', 'calls', 'files', 'proven', 'counter'];
const contents = () =>
  TABLES.map((table) => setting.rows(`select * from ${table}`).map((row) => ({ ...row, _metadata: 0 })));

test('reports calls that are over and those that are not, in the order of the claims, and changes nothing', async () => {
  await signAndReport(journal, askingOf(1));
  await signedClaim(journal, askingOf(2));
  await requestedClaim(journal, askingOf(3));
  await claimOf(journal, askingOf(4));
  await signAndReport(await setting.open(), askingOf(5));
  setting.ended.add(101).add(102);
  const before = contents();

  using reading = await read();
  expect(await outcomes(reading)).toEqual([
    ['/1', 'written', 'yes'],
    ['/2', 'unwritten', 'yes'],
    ['/3', 'unknown', 'unknown'],
    ['/5', 'written', 'yes'],
  ]);
  expect((await reading.unfinished()).map(({ kind }) => kind)).toEqual(['unwritten', 'unknown']);
  expect(contents()).toEqual(before);
});

test('reads a history of several pages', async () => {
  await signAndReport(journal, askingOf(1));
  await end(journal);
  setting.copyCall(1200);
  using reading = await read();
  const files = (await outcomes(reading)).map(([file]) => file);
  expect(files).toEqual(['/1', ...Array.from({ length: 1199 }, (_, index) => String(index + 2))]);
});

test('of a folder that is not there, or that is empty, has no calls', async () => {
  using missing = await read(join(setting.folder, 'not', 'there'));
  expect([await outcomes(missing), await missing.unfinished()]).toEqual([[], []]);
  const empty = join(setting.folder, 'empty');
  await mkdir(empty, { mode: 0o700 });
  using nothing = await read(empty);
  expect(await outcomes(nothing)).toEqual([]);
  expect(await readdir(empty)).toEqual([]);
  await writeFile(join(empty, 'journal.db'), '', { mode: 0o600 });
  using early = await read(empty);
  expect([await outcomes(early), await early.unfinished()]).toEqual([[], []]);
});
