import { expect, test } from 'vitest';
import { createPlaces } from '../../src/page/places.ts';

const tick = () => new Promise((resolve) => setImmediate(resolve));

test('runs no more work at once than there are places, and all that found room to wait', async () => {
  const places = createPlaces(2, 3);
  let busy = 0;
  let most = 0;
  const work = async () => {
    busy += 1;
    most = Math.max(most, busy);
    await tick();
    busy -= 1;
    return 'done';
  };
  const given = Array.from({ length: 7 }, () => places(work));
  expect(given.filter((promise) => promise === undefined)).toHaveLength(2);
  expect((await Promise.all(given)).filter((result) => result === 'done')).toHaveLength(5);
  expect(most).toBe(2);
});

test('a place is free again after work that failed', async () => {
  const places = createPlaces(1, 0);
  await expect(places(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  expect(await places(async () => 'next')).toBe('next');
});
