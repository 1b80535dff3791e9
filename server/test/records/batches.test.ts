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

test('calls of one turn are served together, each with its own result', async () => {
  const { served, batches } = doubling();
  const results = [1, 2, 3].map((item) => batches.add(item));
  expect(await Promise.all(results)).toEqual([2, 4, 6]);
  expect(served).toEqual([[1, 2, 3]]);
});

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

test('a failure of the whole batch reaches every caller', async () => {
  const { served, batches } = doubling(async () => {
    throw new Error('away');
  });
  const results = await Promise.allSettled([1, 2, 3].map((item) => batches.add(item)));
  expect(results).toEqual(Array(3).fill({ status: 'rejected', reason: new Error('away') }));
  expect(served).toHaveLength(1);
});

test('a result that takes longer does not hold up the next batch', async () => {
  let release = (_result: number): void => {};
  const later = new Promise<number>((resolve) => {
    release = resolve;
  });
  const batches = createBatches<number, number>(async (items) => items.map((item) => (item === 1 ? later : item)));
  const slow = batches.add(1);
  expect(await batches.add(2)).toBe(2);
  release(7);
  expect(await slow).toBe(7);
});

test('draining waits for running work and for the work that waits after it', async () => {
  const { batches } = doubling(async () => void (await sleep(5)));
  let done = 0;
  const add = (item: number) => void batches.add(item).then(() => (done += 1));
  add(1);
  await sleep(2);
  for (const item of [2, 3]) add(item);
  await batches.drain();
  expect(done).toBe(3);
  await batches.drain();
});
