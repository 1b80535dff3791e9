import { expect, test } from 'vitest';
import { createThrownAway } from '../../src/http/thrown-away.ts';

test('a client counts as wasteful after more than 100 signatures within a minute, until the minute is over', () => {
  let now = 0;
  const reasons: string[] = [];
  const thrownAway = createThrownAway(
    (why) => reasons.push(why),
    () => now,
  );
  for (let index = 0; index < 100; index++) thrownAway.note('a', 'refused');
  thrownAway.note('b', 'failed');
  expect(thrownAway.isWasteful('a')).toBe(false);
  now = 59_999;
  thrownAway.note('a', 'abandoned');
  expect(['a', 'b', 'c'].map(thrownAway.isWasteful)).toEqual([true, false, false]);
  now = 60_000;
  expect(thrownAway.isWasteful('a')).toBe(false);
  expect(reasons).toEqual([...Array(100).fill('refused'), 'failed', 'abandoned']);
});
