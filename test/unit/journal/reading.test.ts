/** The journal as it is only read: all that is in it is reported, and nothing is made, changed or removed. */

import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Journal } from '../../../src/journal/journal.ts';
import { readJournal } from '../../../src/journal/open-journal.ts';
import { factsAt, factsOf, journalSetting, type Setting, sign, signAndReport, workOf } from './support/setting.ts';

let setting: Setting;
let journal: Journal;
beforeEach(async () => {
  setting = await journalSetting();
  journal = await setting.open();
});
afterEach(() => setting[Symbol.asyncDispose]());

function read(folder = setting.folder) {
  return readJournal({
    folder,
    now: () => new Date(Date.UTC(2027, 5)),
    uptime: () => 1,
    randomId: () => 'reader00',
    processes: {
      self: { host: 'here', boot: 'first', pid: 1, started: '1' },
      isRunning: async ({ pid }) => !setting.ended.has(pid),
    },
    keepDays: 90,
    runningFor: 0,
  });
}

async function contents(): Promise<Readonly<Record<string, string>>> {
  const entries = await Promise.all(
    (await setting.files()).map(async (file) => [file, await readFile(join(setting.folder, file), 'latin1')] as const),
  );
  return Object.fromEntries(entries);
}

async function outcomes(reading = read()) {
  const found: (readonly [string, string, string])[] = [];
  for await (const { file, outcome, counted } of reading.history()) found.push([file, outcome, counted]);
  return found;
}

test('reports calls that are over and of those that are not, and leaves every byte as it is', async () => {
  await signAndReport(journal, workOf(1), 'written');
  await sign(await journal.claim(workOf(2), factsOf('unwritten')));
  await (await journal.claim(workOf(3), factsOf('unknown'))).requested();
  // Its process was killed before it could say that nothing is left to do.
  const over = await journal.claim(workOf(4), factsAt('/over', { report: false }));
  await sign(over);
  await journal.claim(workOf(5), factsOf('claimed'));
  const other = await setting.open();
  await (await other.claim(workOf(4), factsAt('/over', { report: false }))).written('/over');
  setting.ended.add(101).add(102);
  const before = await contents();

  expect((await outcomes()).sort()).toEqual([
    ['/over', 'written', 'yes'],
    ['unknown', 'unknown', 'unknown'],
    ['unwritten', 'unwritten', 'yes'],
    ['written', 'written', 'yes'],
  ]);
  expect((await read().unfinished()).map(({ kind }) => kind).sort()).toEqual(['unknown', 'unwritten']);
  expect(await contents()).toEqual(before);
});

test('lists a call that is not over before calls that were requested later', async () => {
  await (await journal.claim(workOf(1), factsOf('unknown'))).requested();
  setting.clock.wall = 1000;
  await signAndReport(await setting.open(), workOf(2), 'later');
  setting.ended.add(101).add(102);
  expect((await outcomes()).map(([file]) => file)).toEqual(['unknown', 'later']);
});

test('reports a call whose process was killed while it made room for another', async () => {
  const claim = await journal.claim(workOf(1), factsOf('a'));
  await claim.requested();
  setting.ended.add(101);
  await setting.tamper('calls', (text) => text);
  const [file = ''] = (await setting.files()).filter((name) => name.startsWith('calls/'));
  const { encodeLine } = await import('../../../src/journal/lines.ts');
  const closing = {
    step: 'closing',
    call: claim.id,
    at: '2026-11-20T12:00:00.000Z',
    by: 'closer00',
    holder: { host: 'here', boot: 'first', pid: 101, started: '101', run: 'gone' },
    lines: 2,
    aim: 'aside',
    givenUp: false,
  };
  await writeFile(join(setting.folder, file), encodeLine(closing), { flag: 'a' });
  expect(await read().unfinished()).toMatchObject([{ id: claim.id, kind: 'unknown' }]);
  expect(await outcomes()).toEqual([['a', 'unknown', 'unknown']]);
  expect(await (await setting.open()).forget(claim.id)).toBe('forgotten');
});

test('of a folder that is not there, or that is empty, has no calls', async () => {
  const missing = join(setting.folder, 'not', 'there');
  expect(await outcomes(read(missing))).toEqual([]);
  expect(await read(missing).unfinished()).toEqual([]);
  const empty = join(setting.folder, 'empty');
  await mkdir(empty);
  expect(await outcomes(read(empty))).toEqual([]);
  expect(await setting.files()).toEqual([]);
});

test('of a folder that is none says why', async () => {
  const file = join(setting.folder, 'file');
  await writeFile(file, '');
  await expect(read(file).unfinished()).rejects.toMatchObject({ code: 'journal-unusable' });
  await rm(file);
});
