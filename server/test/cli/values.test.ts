import { expect, test } from 'vitest';
import { readTime } from '../../src/cli/values.ts';

test('rejects days that do not exist in the calendar', () => {
  for (const day of ['2026-02-29', '2026-02-31', '2026-04-31', '2026-02-30T12:00:00Z']) {
    expect(() => readTime('--before', day)).toThrow('a date or time');
  }
  expect(readTime('--before', '2028-02-29')).toEqual(new Date('2028-02-29T00:00:00Z'));
  expect(readTime('--before', '2026-03-01T00:30+02:00')).toEqual(new Date('2026-02-28T22:30:00Z'));
});
