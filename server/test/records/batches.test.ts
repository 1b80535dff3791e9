import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type BatchOptions, createBatches } from '../../src/records/batches.ts';

const OPTIONS: BatchOptions = { most: 10, enough: 10, gather: () => 0, isOfOne: () => true };

/** Doubles numbers, in batches that it notes. */
function doubling(
  options: Partial<BatchOptions> = {},
  work: (items: readonly number[]) => Promise<void> = async () => {},
) {
  const served: (readonly number[])[] = [];
  const serve = async (items: readonly number[]) => {
    served.push(items);
    await work(items);
    return items.map((item) => 2 * item);
  };
  return { served, batches: createBatches(serve, { ...OPTIONS, ...options }) };
}

test('calls of one turn are served together, each with its own result', async () => {
  const { served, batches } = doubling();
  const results = [1, 2, 3].map((item) => batches.add(item));
  expect(await Promise.all(results)).toEqual([2, 4, 6]);
  expect(served).toEqual([[1, 2, 3]]);
});

test('what comes while a batch is under way is in the next one, in the order it came', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { served, batches } = doubling({}, async ([first]) => (first === 1 ? await held : undefined));
  const one = batches.add(1);
  await sleep(5);
  const others = [2, 3].map((item) => batches.add(item));
  await sleep(5);
  expect(served).toEqual([[1]]);
  release();
  expect(await Promise.all([one, ...others])).toEqual([2, 4, 6]);
  expect(served).toEqual([[1], [2, 3]]);
});

test('a batch holds no more than it may, however many wait', async () => {
  const { served, batches } = doubling({ most: 4 });
  const items = Array.from({ length: 10 }, (_, index) => index);
  expect(await Promise.all(items.map((item) => batches.add(item)))).toEqual(items.map((item) => 2 * item));
  expect(served.map(({ length }) => length)).toEqual([4, 4, 2]);
});

test('an item that cannot be served fails its caller and no other caller', async () => {
  const { batches } = doubling({}, async (items) => {
    if (items.includes(2)) throw new Error('not 2');
  });
  const results = await Promise.allSettled([1, 2, 3].map((item) => batches.add(item)));
  expect(results).toEqual([
    { status: 'fulfilled', value: 2 },
    { status: 'rejected', reason: new Error('not 2') },
    { status: 'fulfilled', value: 6 },
  ]);
  expect(await batches.add(4)).toBe(8);
});

test('a failure of the whole batch reaches every caller', async () => {
  const { served, batches } = doubling({ isOfOne: () => false }, async () => {
    throw new Error('away');
  });
  const results = await Promise.allSettled([1, 2, 3].map((item) => batches.add(item)));
  expect(results).toEqual(Array(3).fill({ status: 'rejected', reason: new Error('away') }));
  expect(served).toHaveLength(1);
});

test('a missing result is an error, never another caller’s result', async () => {
  const batches = createBatches<number, number>(async () => [1], { ...OPTIONS, isOfOne: () => false });
  const results = await Promise.allSettled([batches.add(1), batches.add(2)]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});

test('under load a batch gathers before it begins; a call that comes alone waits for nothing', async () => {
  const { served, batches } = doubling({ gather: () => 100 });
  const started = performance.now();
  await batches.add(1);
  await batches.add(2);
  expect(performance.now() - started).toBeLessThan(90);
  await Promise.all([batches.add(3), batches.add(4)]);
  const soon = batches.add(5);
  await sleep(20);
  await Promise.all([soon, batches.add(6)]);
  expect(served).toEqual([[1], [2], [3, 4], [5, 6]]);
});

test('draining waits for what is under way and for what waits behind it', async () => {
  const { batches } = doubling({ most: 1 }, async () => void (await sleep(5)));
  let done = 0;
  for (const item of [1, 2, 3]) void batches.add(item).then(() => (done += 1));
  await batches.drain();
  expect(done).toBe(3);
  await batches.drain();
});

test('a batch that is large enough begins immediately, however long it might gather', async () => {
  const { served, batches } = doubling({ gather: () => 60_000, enough: 3 });
  await Promise.all([1, 2].map((item) => batches.add(item)));
  const first = batches.add(3);
  await sleep(20);
  expect(served).toEqual([[1, 2]]);
  await Promise.all([first, batches.add(4), batches.add(5)]);
  expect(served).toEqual([
    [1, 2],
    [3, 4, 5],
  ]);
});
