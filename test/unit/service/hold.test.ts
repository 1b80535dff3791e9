/** The wait that the service asks for: the rule by itself. */

import { expect, test } from 'vitest';
import { LONGEST_WAIT } from '../../../src/http/retry.ts';
import { createHold } from '../../../src/service/hold.ts';

/** A clock that stands still except for sleeping. */
function openHold() {
  const sleeps: number[] = [];
  let now = 1_000_000;
  const sleep = async (milliseconds: number, signal?: AbortSignal): Promise<void> => {
    signal?.throwIfAborted();
    sleeps.push(milliseconds);
    now += milliseconds;
  };
  return { hold: createHold({ now: () => now, sleep }), sleeps };
}

test('every request waits that long, and no longer', async () => {
  const { hold, sleeps } = openHold();
  hold.begin(5000);
  await Promise.all([hold.over(undefined), hold.over(undefined)]);
  expect(sleeps).toContain(5000);
  const before = sleeps.length;
  await hold.over(undefined);
  expect(sleeps).toHaveLength(before);
});

test('the longest of several waits counts, up to a minute', async () => {
  const { hold, sleeps } = openHold();
  hold.begin(5000);
  const endShorter = hold.begin(1000);
  await hold.over(undefined);
  expect(sleeps).toEqual([5000]);
  endShorter();
  hold.begin(10 * LONGEST_WAIT);
  await hold.over(undefined);
  expect(sleeps).toEqual([5000, LONGEST_WAIT]);
});

test('notifies the waiting requests at the end', async () => {
  const { hold } = openHold();
  hold.begin(1000);
  await expect(hold.over(AbortSignal.abort())).rejects.toThrow();
});
