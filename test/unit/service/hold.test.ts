import { expect, test } from 'vitest';
import { LONGEST_WAIT } from '../../../src/http/retry.ts';
import { createHold } from '../../../src/service/hold.ts';

test('all requests wait for the longest of several waits, up to a minute', async () => {
  const sleeps: number[] = [];
  let now = 1_000_000;
  const sleep = async (milliseconds: number): Promise<void> => {
    sleeps.push(milliseconds);
    now += milliseconds;
  };
  const hold = createHold({ now: () => now, sleep });
  hold.begin(5000);
  const endShorter = hold.begin(1000);
  await hold.over(undefined);
  expect(sleeps).toEqual([5000]);
  endShorter();
  hold.begin(10 * LONGEST_WAIT);
  await Promise.all([hold.over(undefined), hold.over(undefined)]);
  await hold.over(undefined);
  expect(new Set(sleeps)).toEqual(new Set([5000, LONGEST_WAIT]));
});
