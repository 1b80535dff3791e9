/** A long history: a signature reads and writes little of it, and it is read in little memory. */

import { execFileSync } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../../src/journal/driver.ts';
import { folderForAll } from '../../support/set-up.ts';
import type { Measured } from './support/measured.ts';
import { bundle } from './support/processes.ts';

const ENTRIES = 150_000;
const MEGABYTE = 1024 * 1024;

const folder = folderForAll();
beforeAll(async () => {
  await symlink(fileURLToPath(new URL('../../../node_modules', import.meta.url)), join(folder, 'node_modules'));
  await bundle('measured.ts', join(folder, 'measured.mjs'));
});

/** As many calls as a large team makes in half a year, all within the days that they are kept. */
function writeHistory(state: string): void {
  measure(state, 'sign');
  const db = openDatabase(join(state, 'journal.db'));
  db.exec(`with recursive n (i) as (select 1 union all select i + 1 from n where i < ${ENTRIES})
    insert into calls (name, work, origin, code, algorithm, digest, run, state, settled, at, ended_at, file, bytes, certificate, leaf, client, record)
    select printf('%016x', i), lower(hex(randomblob(32))), origin, code, algorithm, lower(hex(randomblob(32))), run, 'closed',
      settled, at, ended_at, file || i, bytes, certificate, leaf, client, printf('0f0e0d0c-0000-4000-8000-%012d', i)
    from (select * from calls limit 1), n`);
  db.exec(`insert into files (call, run, place, file, wants_report, written, sha256)
    select id, run, 'x', file, 1, 1, digest from calls where id not in (select call from files)`);
  db.close();
}

function measure(state: string, what: 'sign' | 'history') {
  const text = execFileSync(process.execPath, [join(folder, 'measured.mjs'), what, state], { encoding: 'utf8' });
  return JSON.parse(text) as Measured;
}

test('signing uses only few pages of the indexes, and reading it takes less than 100 MiB', () => {
  const [short, long] = [join(folder, 'short'), join(folder, 'long')];
  writeHistory(long);
  const few = measure(short, 'sign');
  const many = measure(long, 'sign');
  console.log('for a hundred calls with a short and a long history:', few, many);
  expect(few.bytesRead).toBeGreaterThan(0);
  // Some pages of each index for each call: of the entries themselves there are a hundred megabytes.
  expect(Math.abs(many.bytesRead - few.bytesRead) / 100).toBeLessThan(50 * 1024);
  expect(many.bytesWritten / 100).toBeLessThan(200 * 1024);

  const { entries, peakBytes, warnings } = measure(long, 'history');
  console.log('peak of reading it:', Math.round(peakBytes / MEGABYTE), 'MiB');
  expect(entries).toBe(ENTRIES + 200);
  expect(warnings).toEqual([]);
  expect(peakBytes).toBeLessThan(100 * MEGABYTE);
});
