/** Several real processes with one journal, some of which are killed. Without kills: test/system/kill/several-processes.long.test.ts. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { HistoryEntry } from '../../../src/journal/journal.ts';
import { openJournal } from '../../../src/journal/open-journal.ts';
import { observeProcesses } from '../../../src/journal/processes.ts';
import { type WorkerSetting, workerSetting } from './support/processes.ts';
import { historyOf } from './support/setting.ts';

const PROCESSES = 3;
const FILES = 40;

let workers: WorkerSetting;
beforeAll(async () => {
  workers = await workerSetting();
});
afterAll(() => workers[Symbol.asyncDispose]());

async function history(
  folder: string,
): Promise<{ entries: HistoryEntry[]; warnings: readonly string[]; open: number }> {
  let ids = 0;
  const journal = await openJournal({
    folder,
    now: () => new Date(),
    uptime: () => Number(process.hrtime.bigint()) / 1e6,
    randomId: () => `reader${String(++ids).padStart(4, '0')}`,
    processes: await observeProcesses(),
    keepDays: 90,
    runningFor: 0,
  });
  const entries = await historyOf(journal);
  return { entries, warnings: journal.warnings, open: (await journal.unfinished()).length };
}

const numbers = (from: number): number[] => Array.from({ length: FILES }, (_, index) => from + index);

test('processes that are killed leave the others going, and only calls with an unknown outcome are requested twice', async () => {
  const place = workers.newPlace();
  const killed = Array.from({ length: PROCESSES - 1 }, (_, index) =>
    workers.run({ ...place, works: numbers(0), serviceTime: 5, killAt: 60 + index * 45 }),
  );
  const survivor = workers.run({ ...place, works: numbers(0), serviceTime: 5 });
  expect(await survivor).toMatchObject({ failures: [], stderr: '' });
  expect((await Promise.all(killed)).map(({ failures }) => failures)).toContain(undefined);
  const again = await workers.run({ ...place, works: [], serviceTime: 0 });
  expect(again.failures).toEqual([]);
  const { entries, warnings } = await history(place.folder);
  // Each that was killed may have been inside a line, also the first one of a call: another one's entry is not lost with it.
  const ofKills = /^(the history of .* damaged|an entry of the journal is damaged)/;
  expect(warnings.filter((warning) => !ofKills.test(warning))).toEqual([]);
  const requests = (await workers.counted(place.service, 'request')).length;
  const counted = entries.filter((entry) => entry.counted === 'yes').length;
  const unknown = entries.filter((entry) => entry.counted === 'unknown').length;
  expect(counted).toBe(FILES);
  // Of what is unknown, some was asked and some was about to be.
  expect(requests).toBeGreaterThanOrEqual(FILES);
  expect(requests).toBeLessThanOrEqual(counted + unknown);
});

test('claims of processes that are gone are taken over by one process each', async () => {
  const place = workers.newPlace();
  const works = numbers(0);
  const thirds = [works.slice(0, 13), works.slice(13, 26), works.slice(26)];
  await Promise.all(
    thirds.map((some, index) => workers.run({ ...place, works: some, serviceTime: 1, killAt: 30 + index * 50 })),
  );
  const before = (await workers.counted(place.service, 'request')).length;
  const usable = (await history(place.folder)).entries.filter(({ counted }) => counted === 'yes').length;
  const runs = Array.from({ length: PROCESSES }, () => workers.run({ ...place, works, serviceTime: 2 }));
  expect(await Promise.all(runs)).toMatchObject(Array(PROCESSES).fill({ failures: [], stderr: '' }));
  const requests = (await workers.counted(place.service, 'request')).length - before;
  expect(requests).toBe(FILES - usable);
});
