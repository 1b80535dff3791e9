import { expect, test } from 'vitest';
import { readRetryAfter, waitAfter } from '../../../src/http/retry.ts';

test('Retry-After: seconds, the three forms of an HTTP date, and nothing else', () => {
  const now = Date.parse('1994-11-06T08:49:00Z');
  expect(readRetryAfter('120', now)).toBe(120_000);
  expect(readRetryAfter(' 0 ', now)).toBe(0);
  expect(readRetryAfter('Sun, 06 Nov 1994 08:49:37 GMT', now)).toBe(37_000);
  expect(readRetryAfter('Sunday, 06-Nov-94 08:49:37 GMT', now)).toBe(37_000);
  expect(readRetryAfter('Sun Nov  6 08:49:37 1994', now)).toBe(37_000);
  expect(readRetryAfter('Sun, 06 Nov 1994 08:00:00 GMT', now)).toBe(0);
  expect(readRetryAfter('7, Sun, 06 Nov 1994 08:49:37 GMT, soon, 9', now)).toBe(37_000);
  expect(readRetryAfter('Sunday, 06-Nov-94 08:49:37 GMT, 60,', now)).toBe(60_000);
  for (const odd of [undefined, '', '-5', '1.5', 'soon', '1e3', '2020-01-01']) {
    expect(readRetryAfter(odd, now)).toBeUndefined();
  }
});

test('without Retry-After the wait doubles, up to 8 seconds, and is spread by chance', () => {
  const waits = (random: number) => [1, 2, 3, 4, 5, 6, 20].map((attempts) => waitAfter(attempts, random));
  expect(waits(0)).toEqual([250, 500, 1000, 2000, 4000, 4000, 4000]);
  expect(waits(1)).toEqual([500, 1000, 2000, 4000, 8000, 8000, 8000]);
});
