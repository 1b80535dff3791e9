import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createBatches } from '../../src/records/batches.ts';

/** Doubles numbers, in batches that it notes. */
function doubling(work: (items: readonly number[]) => Promise<void> = async () => {}) {
  const served: (readonly number[])[] = [];
  const serve = async (items: readonly number[]) => {
    served.push(items);
    await work(items);
    return items.map((item) => 2 * item);
  };
  return { served, batches: createBatches(serve) };
}

test('calls that arrive during a batch are in the next one, in order', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { served, batches } = doubling(async ([first]) => (first === 1 ? await held : undefined));
  const one = batches.add(1);
  await sleep(5);
  const others = [2, 3].map((item) => batches.add(item));
  await sleep(5);
  expect(served).toEqual([[1]]);
  release();
  expect(await Promise.all([one, ...others])).toEqual([2, 4, 6]);
  expect(served).toEqual([[1], [2, 3]]);
});

test('a batch never exceeds its limit, however many calls wait', async () => {
  const { served, batches } = doubling();
  const items = Array.from({ length: 600 }, (_, index) => index);
  expect(await Promise.all(items.map((item) => batches.add(item)))).toEqual(items.map((item) => 2 * item));
  expect(served.map(({ length }) => length)).toEqual([256, 256, 88]);
});
