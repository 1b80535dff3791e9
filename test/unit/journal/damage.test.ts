/** A database that is damaged, or is none. */

import { copyFile, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { openDatabase } from '../../../src/journal/driver.ts';
import { hasSqliteCode } from '../../../src/journal/errors.ts';
import { readJournal } from '../../../src/journal/open-journal.ts';
import { PAGE_SIZE } from '../../../src/journal/schema.ts';
import { forEach } from '../../support/set-up.ts';
import { askingOf, end, historyOf, journalSetting, signAndReport } from './support/setting.ts';

const setting = forEach(journalSetting);

const damaged = {
  code: 'journal-damaged',
  category: 'local',
  message: expect.stringMatching(
    /journal\.db is damaged: it may contain signatures that were paid for but are not in their files yet/,
  ),
  hint: expect.stringContaining('journal.db*'),
};

async function refused(expected: object): Promise<void> {
  await expect(setting.open()).rejects.toMatchObject(expected);
  await expect(readJournal(setting.options()).then((reading) => reading.unfinished())).rejects.toMatchObject(expected);
}

/** Puts a shorter file in place of the file. If a mapped file shrank, SIGBUS would end the process that maps it. */
async function cut(path: string, size: number): Promise<void> {
  const bytes = await readFile(path);
  await rm(path);
  await writeFile(path, bytes.subarray(0, size), { mode: 0o600 });
}

describe('a database', () => {
  test('that is not valid is an error that names it and says what to do', async () => {
    await writeFile(setting.database, 'this is no database, but a text about one. '.repeat(50), { mode: 0o600 });
    await refused(damaged);
    // It is left as it is.
    expect(await readFile(setting.database, 'utf8')).toMatch(/^this is no database/);
  });

  test.each([
    ['emptied', 0, ['']],
    ['emptied with all its files', 0, ['', '-wal', '-shm']],
    ['cut after its header', 100, ['']],
    ['cut after a page', PAGE_SIZE, ['']],
  ])('that was %s is an error, and not a new journal', async (_what, size, ends) => {
    await signAndReport(await setting.open(), askingOf(1));
    setting.change('pragma wal_checkpoint(truncate)');
    for (const end of ends) await cut(setting.database + end, size);
    setting.ended.add(101);
    const run = async () => await signAndReport(await setting.open(), askingOf(1));
    await expect(run()).rejects.toMatchObject(damaged);
    await expect(readJournal(setting.options()).then((reading) => historyOf(reading))).rejects.toMatchObject(damaged);
  });

  test('whose pages were overwritten is an error, and not a new journal', async () => {
    const journal = await setting.open();
    for (let number = 1; number < 40; number++) await signAndReport(journal, askingOf(number));
    await end(journal);
    setting.change('pragma wal_checkpoint(truncate)');
    const { size } = await stat(setting.database);
    await using file = await open(setting.database, 'r+');
    await file.write(Buffer.alloc(size - PAGE_SIZE, 0xa5), 0, size - PAGE_SIZE, PAGE_SIZE);
    const run = async () => await signAndReport(await setting.open(), askingOf(1));
    await expect(run()).rejects.toMatchObject(damaged);
  });

  test('of another program is no journal, and a later version is not read', async () => {
    const other = openDatabase(setting.database);
    other.exec('create table t (a)');
    other.close();
    await refused({ code: 'journal-unusable', message: expect.stringMatching(/is no journal/) });
    const later = openDatabase(setting.database);
    later.exec('pragma user_version = 2');
    later.close();
    await refused({ code: 'journal-unusable', message: expect.stringMatching(/was made by a later version/) });
  });

  test('that another program keeps locked is an error after ten seconds', async () => {
    await end(await setting.open());
    const other = openDatabase(setting.database);
    other.exec('begin exclusive');
    let time = 0;
    const hurried = setting.open({ uptime: () => (time += 2000) });
    await expect(hurried).rejects.toMatchObject({ code: 'journal-unusable', message: expect.stringMatching(/locked/) });
    other.close();
  });
});

test('a copy of the three files, as after a power failure, contains all that was committed', async () => {
  const journal = await setting.open();
  for (let number = 1; number <= 5; number++) {
    await signAndReport(journal, askingOf(number));
    await using later = await journalSetting();
    for (const end of ['', '-wal']) await copyFile(setting.database + end, later.database + end);
    later.ended.add(101);
    const copy = await later.open({ randomId: () => 'later' });
    expect((await historyOf(copy)).map(({ outcome }) => outcome)).toEqual(Array(number).fill('written'));
  }
});

test('an extended result code of SQLite counts as what it extends, as each driver gives it', () => {
  const thrownWith = (properties: object) => Object.assign(new Error('it failed'), properties);
  const readOnlyFolder = 1544;
  for (const given of [
    { code: 'ERR_SQLITE_ERROR', errcode: readOnlyFolder },
    { code: `UNKNOWN_SQLITE_ERROR_${readOnlyFolder}` },
    { code: 'SQLITE_READONLY_DBMOVED' },
  ]) {
    expect([given, hasSqliteCode(thrownWith(given), 'READONLY')]).toEqual([given, true]);
    expect([given, hasSqliteCode(thrownWith(given), 'BUSY')]).toEqual([given, false]);
  }
});
