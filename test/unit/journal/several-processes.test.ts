/** Several real processes with one journal, some of which are killed. Without kills: test/system/kill/several-processes.long.test.ts. */

import { expect, test } from 'vitest';
import type { HistoryEntry } from '../../../src/journal/journal.ts';
import { openJournal, readJournal } from '../../../src/journal/open-journal.ts';
import { forAll } from '../../support/set-up.ts';
import { workerSetting } from './support/processes.ts';
import { historyOf } from './support/setting.ts';
import { optionsHere } from './support/works.ts';

const FILES = 24;

const workers = await forAll(workerSetting());

async function history(folder: string): Promise<readonly HistoryEntry[]> {
  using reading = await readJournal(optionsHere(folder));
  return await historyOf(reading);
}

const numbers = (from: number): number[] => Array.from({ length: FILES }, (_, index) => from + index);

test('killed processes do not stop the others, and only calls with an unknown outcome are requested twice', async () => {
  const place = workers.newPlace();
  const killed = workers.run({ ...place, works: numbers(0), serviceTime: 5, killAt: 150 });
  const survivor = workers.run({ ...place, works: numbers(0), serviceTime: 5 });
  expect(await survivor).toMatchObject({ failures: [], stderr: '' });
  expect((await killed).failures).toBeUndefined();
  await (await openJournal(optionsHere(place.folder))).close();
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
  const halves = [works.slice(0, FILES / 2), works.slice(FILES / 2)];
  const killed = await Promise.all(
    halves.map((some, index) => workers.run({ ...place, works: some, serviceTime: 1, killAt: 70 + index * 40 })),
  );
  // A run that has ended successfully would share none of its signatures.
  expect(killed.map(({ failures }) => failures)).toEqual([undefined, undefined]);
  const before = (await workers.counted(place.service, 'request')).length;
  const usable = (await history(place.folder)).filter(({ counted }) => counted === 'yes').length;
  const runs = [1, 2].map(() => workers.run({ ...place, works, serviceTime: 2 }));
  expect(await Promise.all(runs)).toMatchObject(Array(2).fill({ failures: [], stderr: '' }));
  const requests = (await workers.counted(place.service, 'request')).length - before;
  expect(requests).toBe(FILES - usable);
});
