/** Several real processes with one journal, some of which are killed. Without kills: test/system/kill/several-processes.long.test.ts. */

import { expect, test } from 'vitest';
import type { HistoryEntry } from '../../../src/journal/journal.ts';
import { readJournal } from '../../../src/journal/open-journal.ts';
import { forAll } from '../../support/set-up.ts';
import { workerSetting } from './support/processes.ts';
import { historyOf } from './support/setting.ts';
import { optionsHere } from './support/works.ts';

const PROCESSES = 3;
const FILES = 40;

const workers = await forAll(workerSetting());

async function history(folder: string): Promise<readonly HistoryEntry[]> {
  using reading = await readJournal(optionsHere(folder));
  return await historyOf(reading);
}

const numbers = (from: number): number[] => Array.from({ length: FILES }, (_, index) => from + index);

test('killed processes do not stop the others, and only calls with an unknown outcome are requested twice', async () => {
  const place = workers.newPlace();
  const killed = Array.from({ length: PROCESSES - 1 }, (_, index) =>
    workers.run({ ...place, works: numbers(0), serviceTime: 5, killAt: 300 + index * 400 }),
  );
  const survivor = workers.run({ ...place, works: numbers(0), serviceTime: 5 });
  expect(await survivor).toMatchObject({ failures: [], stderr: '' });
  expect((await Promise.all(killed)).map(({ failures }) => failures)).toContain(undefined);
  const again = await workers.run({ ...place, works: [], serviceTime: 0 });
  expect(again.failures).toEqual([]);
  const entries = await history(place.folder);
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
  const killed = await Promise.all(
    thirds.map((some, index) => workers.run({ ...place, works: some, serviceTime: 1, killAt: 80 + index * 50 })),
  );
  // A run that has ended successfully would share none of its signatures.
  expect(killed.map(({ failures }) => failures)).toEqual([undefined, undefined, undefined]);
  const before = (await workers.counted(place.service, 'request')).length;
  const usable = (await history(place.folder)).filter(({ counted }) => counted === 'yes').length;
  const runs = Array.from({ length: PROCESSES }, () => workers.run({ ...place, works, serviceTime: 2 }));
  expect(await Promise.all(runs)).toMatchObject(Array(PROCESSES).fill({ failures: [], stderr: '' }));
  const requests = (await workers.counted(place.service, 'request')).length - before;
  expect(requests).toBe(FILES - usable);
});
