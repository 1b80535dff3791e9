/** A long history: a signature reads and writes little of it, and it is read in little memory. */

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { askingOf, end, journalSetting, type Setting, signAndReport } from './support/setting.ts';

/** As many calls as a large team makes in half a year, all within the days that they are kept. */
const ENTRIES = 150_000;
const MEGABYTE = 1024 * 1024;

/** Returns the bytes that this process has read or written so far (proc(5), /proc/pid/io). */
function bytesOf(what: 'rchar' | 'wchar'): number {
  return Number(new RegExp(`^${what}: (\\d+)$`, 'm').exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
}

async function signHundred(setting: Setting) {
  const [read, written] = [bytesOf('rchar'), bytesOf('wchar')];
  const journal = await setting.open();
  for (let number = 1; number <= 100; number += 1) await signAndReport(journal, askingOf(number));
  await end(journal);
  expect(journal.warnings).toEqual([]);
  return { read: bytesOf('rchar') - read, written: bytesOf('wchar') - written };
}

test('signing uses only few pages of the indexes, and reading it takes little memory', async () => {
  await using short = await journalSetting();
  await using long = await journalSetting();
  const first = await long.open();
  await signAndReport(first, askingOf(0));
  await end(first);
  long.copyCall(ENTRIES);
  long.change(`insert into files (call, run, place, file, wants_report, written, sha256)
    select id, run, 'x', file, 1, 1, digest from calls where id not in (select call from files)`);
  const few = await signHundred(short);
  const many = await signHundred(long);
  console.log('for a hundred calls with a short and a long history:', few, many);
  // Some pages of each index for each call: of the entries themselves there are a hundred megabytes.
  expect(Math.abs(many.read - few.read) / 100).toBeLessThan(50 * 1024);
  expect(many.written / 100).toBeLessThan(200 * 1024);

  const journal = await long.open();
  const before = process.memoryUsage().rss;
  let [entries, most] = [0, before];
  for await (const _entry of journal.history()) {
    entries += 1;
    if (entries % 1000 === 0) most = Math.max(most, process.memoryUsage().rss);
  }
  console.log('more memory while it is read:', Math.round((most - before) / MEGABYTE), 'MiB');
  expect(entries).toBe(ENTRIES + 100);
  expect(most - before).toBeLessThan(60 * MEGABYTE);
});
