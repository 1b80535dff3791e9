import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createBatches } from '../../src/records/batches.ts';

test('calls that arrive during a batch are in the next one, in order and up to its limit', async () => {
  const served: (readonly number[])[] = [];
  const batches = createBatches(async (items: readonly number[]) => {
    served.push(items);
    await sleep(20);
    return items.map((item) => 2 * item);
  });
  const one = batches.add(-1);
  await sleep(5);
  const items = Array.from({ length: 600 }, (_, index) => index);
  expect(await Promise.all(items.map((item) => batches.add(item)))).toEqual(items.map((item) => 2 * item));
  expect(await one).toBe(-2);
  expect(served.map(({ length }) => length)).toEqual([1, 256, 256, 88]);
});
