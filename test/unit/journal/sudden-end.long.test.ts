/** A process that is killed at each single change that it makes to the file system. Failing changes: test/system/faults/journal-rows.ts. */

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Journal } from '../../../src/journal/journal.ts';
import { openJournal } from '../../../src/journal/open-journal.ts';
import { observeProcesses } from '../../../src/journal/processes.ts';
import { type WorkerResult, type WorkerSetting, workerSetting } from './support/processes.ts';
import { historyOf, signAndReport, workOf } from './support/setting.ts';

let workers: WorkerSetting;
/** Changes that a whole run makes. */
let changes = 0;
beforeAll(async () => {
  workers = await workerSetting();
  const result = await workers.run({
    ...workers.newPlace(),
    works: [1],
    serviceTime: 0,
    killAt: Number.MAX_SAFE_INTEGER,
  });
  expect(result.failures).toEqual([]);
  changes = result.changes;
});
afterAll(() => workers[Symbol.asyncDispose]());

const openHere = async (folder: string): Promise<Journal> =>
  await openJournal({
    folder,
    now: () => new Date(),
    uptime: () => Number(process.hrtime.bigint()) / 1e6,
    randomId: () => randomBytes(8).toString('hex'),
    processes: await observeProcesses(),
    keepDays: 90,
    runningFor: 0,
  });

interface Aftermath extends WorkerResult {
  readonly at: number;
  /** What the service was requested by the killed run. */
  readonly requests: number;
  readonly reports: number;
  /** What the journal says of that run. */
  readonly outcomes: readonly string[];
  /** Whether the next run had to ask, and how many earlier calls it reported as unknown. */
  readonly askedAnew: boolean;
  readonly unknownCalls: number;
  /** In the end, when all is forgotten. */
  readonly ids: readonly string[];
  readonly left: number;
  readonly warnings: readonly string[];
}

/** Kills a run at that change, and continues with the same file in a new one. */
async function killAt(at: number): Promise<Aftermath> {
  const place = workers.newPlace();
  const result = await workers.run({ ...place, works: [1], serviceTime: 0, killAt: at });
  const requests = (await workers.counted(place.service, 'request')).length;
  const reports = (await workers.counted(place.service, 'report')).length;
  const journal = await openHere(place.folder);
  const outcomes = (await historyOf(journal)).map(({ outcome }) => outcome);
  const claim = await signAndReport(journal, workOf(1), 'file-1');
  for (const { id } of await journal.unfinished()) await journal.forget(id);
  const ids = (await historyOf(journal)).map(({ id }) => id);
  const left = (await journal.unfinished()).length;
  const unknownCalls = claim.unknownCalls.length;
  const askedAnew = claim.known === undefined;
  return { ...result, at, requests, reports, outcomes, askedAnew, unknownCalls, ids, left, warnings: journal.warnings };
}

/** Of every change, four concurrently. */
async function killAtEach(): Promise<Aftermath[]> {
  const all = Array.from({ length: changes }, (_, index) => index + 1);
  const done: Aftermath[] = [];
  const next = async (): Promise<void> => {
    for (let at = all.shift(); at !== undefined; at = all.shift()) done.push(await killAt(at));
  };
  await Promise.all(Array.from({ length: 4 }, next));
  return done.sort((a, b) => a.at - b.at);
}

function expectConsistent(all: readonly Aftermath[]): void {
  expect(all.length).toBeGreaterThan(10);
  for (const {
    at,
    requests,
    reports,
    outcomes,
    askedAnew,
    unknownCalls,
    ids,
    left,
    warnings,
    stderr,
    ...killed
  } of all) {
    const where = `change ${at}`;
    expect(stderr, where).toBe('');
    expect(killed.failures, where).toBeUndefined();
    // Half an entry is reported, and written again completely. A call without its first line looks like one that was emptied.
    const torn = warnings.filter((warning) => /^the history of .* has 1 damaged line,/.test(warning));
    const isEmpty = warnings.some((warning) => warning.endsWith('[call-damaged]'));
    if (isEmpty)
      expect([requests, warnings], where).toEqual([
        0,
        [expect.anything(), expect.stringMatching(/\[signature-perhaps-lost\]$/)],
      ]);
    else expect(warnings, where).toEqual(torn);
    // One call at most, and none that was requested is missing.
    expect(outcomes.length, where).toBeLessThanOrEqual(1);
    expect(outcomes.length, where).toBeGreaterThanOrEqual(requests);
    // A signature that was given is used, as long as the journal had the time to keep it.
    const [outcome] = outcomes;
    const isLost = outcome === undefined || outcome === 'unknown';
    expect(askedAnew, `${where}: ${outcome}`).toBe(isLost);
    expect(unknownCalls, where).toBe(outcome === 'unknown' || isEmpty ? 1 : 0);
    if (reports > 0) expect(['unreported', 'written'], where).toContain(outcome);
    // Nothing is entered twice, nothing is left over.
    expect(new Set(ids).size, where).toBe(ids.length);
    expect(ids.length, where).toBe(outcomes.length + Number(isEmpty) + Number(askedAnew));
    expect(left, where).toBe(0);
  }
}

test('a process that is killed at any change leaves an intact journal', async () => {
  const all = await killAtEach();
  expectConsistent(all);
  // Each of them is met, or the changes are not those that matter.
  expect(new Set(all.map(({ outcomes }) => outcomes[0]))).toEqual(
    new Set([undefined, 'unknown', 'unwritten', 'unreported', 'written']),
  );
});
