/** A process that is killed at each single statement of its database. */

import { join } from 'node:path';
import pLimit from 'p-limit';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../src/journal/driver.ts';
import { openJournal } from '../../../src/journal/open-journal.ts';
import { forAll } from '../../support/set-up.ts';
import { workerSetting } from './support/processes.ts';
import { askingOf, end, historyOf, obtain } from './support/setting.ts';
import { factsAt, optionsHere } from './support/works.ts';

const workers = await forAll(workerSetting());

/** Kills a run at that statement, and continues with the same file in a new one. */
async function killAt(at: number) {
  const place = workers.newPlace();
  const result = await workers.run({ ...place, works: [1], serviceTime: 0, killAt: at });
  const requests = (await workers.counted(place.service, 'request')).length;
  const reports = (await workers.counted(place.service, 'report')).length;
  const journal = await openJournal(optionsHere(place.folder));
  // After a good end, the next run requests the signature again.
  const isWell = isWellIn(place.folder);
  const outcomes = (await historyOf(journal)).map(({ outcome }) => outcome);
  const call = await obtain(journal, askingOf(1, factsAt('file-1')));
  const { reportDue } = await call.written();
  if (reportDue !== undefined) await call.reported(reportDue);
  for (const { id, kind } of await journal.unfinished()) {
    if (kind === 'unreported') await journal.reported(id, 1);
    else await journal.forget(id);
  }
  const ids = (await historyOf(journal)).map(({ id }) => id);
  const left = (await journal.unfinished()).length;
  const askedAnew = call.known === undefined;
  const unknownCalls = call.known === undefined ? call.unknownCalls.length : 0;
  await end(journal);
  const { warnings } = journal;
  return { ...result, at, requests, reports, outcomes, isWell, askedAnew, unknownCalls, ids, left, warnings };
}

function isWellIn(folder: string): boolean {
  const db = openDatabase(join(folder, 'journal.db'));
  const row = db.get('select well from runs order by id limit 1');
  db.close();
  return row?.well === 1;
}

test('a process that is killed at any statement leaves a journal that records what happened', async () => {
  const { statements, failures } = await workers.run({ ...workers.newPlace(), works: [1], serviceTime: 0 });
  expect(failures).toEqual([]);
  const limit = pLimit(2);
  const all = await Promise.all(Array.from({ length: statements }, (_, index) => limit(() => killAt(index + 1))));
  expect(all.length).toBeGreaterThan(30);
  for (const { requests, reports, outcomes, isWell, askedAnew, unknownCalls, ids, left, ...killed } of all) {
    const where = `statement ${killed.at}`;
    expect([killed.stderr, killed.failures, killed.warnings], where).toEqual(['', undefined, []]);
    // One call at most, and none that was requested is missing.
    expect(outcomes.length, where).toBeLessThanOrEqual(1);
    expect(outcomes.length, where).toBeGreaterThanOrEqual(requests);
    // A signature that was given is used, as long as the journal had the time to keep it.
    const [outcome] = outcomes;
    expect(askedAnew, `${where}: ${outcome}`).toBe(isWell || outcome === undefined || outcome === 'unknown');
    expect(unknownCalls, where).toBe(outcome === 'unknown' ? 1 : 0);
    if (reports > 0) expect(['unreported', 'written'], where).toContain(outcome);
    // Nothing is there twice, nothing is left over.
    expect(new Set(ids).size, where).toBe(ids.length);
    expect(ids.length, where).toBe(Math.max(1, outcomes.length + Number(askedAnew)));
    expect(left, where).toBe(0);
  }
  // Each of them is met, or the statements are not those that matter.
  expect(new Set(all.map(({ outcomes }) => outcomes[0]))).toEqual(
    new Set([undefined, 'unknown', 'unwritten', 'unreported', 'written']),
  );
});
