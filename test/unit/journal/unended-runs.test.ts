/** A run that was killed, or that left files undone, and is run again: what it finished is not requested twice. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Journal } from '../../../src/journal/journal.ts';
import {
  factsOf,
  historyOf,
  journalSetting,
  type Setting,
  sign,
  signAndReport,
  unfinishedOf,
  workOf,
} from './support/setting.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const WORK = workOf(1);

let setting: Setting;
let journal: Journal;
beforeEach(async () => {
  setting = await journalSetting();
  journal = await setting.open();
});
afterEach(() => setting[Symbol.asyncDispose]());

/** As another process, after the machine was started again. */
async function openLater(milliseconds: number): Promise<Journal> {
  setting.ended.add(101);
  setting.clock.wall += milliseconds;
  setting.clock.up += 60_000;
  return await setting.open({ self: { boot: `at ${setting.clock.up}` } });
}

describe('what a run finished that did not come to its end', () => {
  test.each([
    ['a second', 1000],
    ['six days', 6 * DAY],
    ['minus an hour, by a clock that was set back', -HOUR],
    ['minus a month, by a clock that was set back', -31 * DAY],
  ])('is known after %s, and is no call of its own', async (_when, milliseconds) => {
    const first = await signAndReport(journal, WORK, 'a');
    const later = await openLater(milliseconds);
    const again = await later.claim(WORK, factsOf('a'));
    expect(again.known).toMatchObject({ record: `record-of-${first.id}` });
    expect(await again.written('a')).toMatchObject({ reportDue: false });
    await later.ended();
    expect(await unfinishedOf(later)).toEqual([]);
    expect((await historyOf(later)).map(({ id }) => id)).toEqual([first.id]);
  });

  test('is requested again once it has been run again to its end', async () => {
    await signAndReport(journal, WORK, 'a');
    const second = await openLater(1000);
    await signAndReport(second, WORK, 'a');
    await second.ended();
    expect((await (await openLater(1000)).claim(WORK, factsOf('a'))).known).toBeUndefined();
  });

  test('is forgotten after a week, and so is the run', async () => {
    await signAndReport(journal, WORK, 'a');
    const later = await openLater(8 * DAY);
    expect((await setting.files()).filter((file) => /^(running|finished)\//.test(file))).toEqual([]);
    expect((await later.claim(WORK, factsOf('a'))).known).toBeUndefined();
  });

  test('is known while its report is missing, which is sent in the end', async () => {
    const first = await journal.claim(WORK, factsOf('a'));
    await sign(first, 'r-1');
    await first.written('a');
    const later = await openLater(1000);
    const again = await later.claim(WORK, factsOf('a'));
    expect(again).toMatchObject({ id: first.id, known: { record: 'r-1' } });
    expect(await again.written('a')).toMatchObject({ reportDue: true });
    await again.reported(1);
    expect(await historyOf(later)).toMatchObject([{ id: first.id, reported: 1, outcome: 'written' }]);
  });
});

test('a run of which others are going does not take theirs for its own end', async () => {
  const other = await setting.open();
  await signAndReport(journal, WORK, 'a');
  await signAndReport(other, workOf(2), 'b');
  await other.ended();
  const later = await openLater(1000);
  expect((await later.claim(WORK, factsOf('a'))).known).toBeDefined();
  expect((await later.claim(workOf(2), factsOf('b'))).known).toBeUndefined();
});

test('what is not named as a run is let be', async () => {
  const notes = join(setting.folder, 'running', 'notes.txt');
  await writeFile(notes, 'mine');
  await openLater(400 * DAY);
  expect(await setting.files()).toEqual(['running/notes.txt']);
});

test('one run shares with itself by a clock that goes back, where no other clock is known', async () => {
  const bare = await setting.open({ self: { boot: undefined } });
  setting.clock.wall -= 31 * DAY;
  await signAndReport(bare, WORK, 'a');
  expect((await bare.claim(WORK, factsOf('b'))).known).toBeDefined();
});
