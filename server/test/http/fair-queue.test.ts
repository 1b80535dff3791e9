import { expect, test } from 'vitest';
import { createFairQueue, type FairQueueOptions } from '../../src/http/fair-queue.ts';

/**
 * A queue that limits nothing but the slots, unless said, with work that ends when it is let go; notes whose work is
 * under way, and what became of each.
 */
function scene(atOnce: number, more: Partial<FairQueueOptions> = {}) {
  const open = { shared: atOnce, limit: Number.POSITIVE_INFINITY, oneByOne: () => false, isLast: () => false };
  const queue = createFairQueue({ ...open, atOnce, ...more });
  const running: { readonly owner: string; readonly end: () => void }[] = [];
  const started: string[] = [];
  const outcomes: string[] = [];
  const ask = (owner: string, times = 1) => {
    for (let index = 0; index < times; index++) {
      const work = () =>
        new Promise<string>((resolve) => {
          started.push(owner);
          running.push({ owner, end: () => resolve('done') });
        });
      void queue.run(owner, work, () => 'busy').then((outcome) => outcomes.push(`${owner} ${outcome}`));
    }
  };
  const endOne = async () => {
    running.shift()?.end();
    await tick();
  };
  return { queue, ask, endOne, started, outcomes, owners: () => running.map(({ owner }) => owner) };
}
const tick = () => new Promise((resolve) => setImmediate(resolve));

test('gives the next slot to the owner with the least work in progress', async () => {
  const { ask, endOne, started, owners } = scene(6);
  ask('greedy', 50);
  await tick();
  ask('modest', 2);
  ask('another', 1);
  for (let index = 0; index < 3; index++) await endOne();
  expect(started.slice(6)).toEqual(['modest', 'another', 'modest']);
  await endOne();
  await endOne();
  // Its part is two slots: two owners more have work.
  expect(owners()).toEqual(['greedy', 'modest', 'another', 'modest', 'greedy']);
});

test('leaves one owner all slots, and divides fewer slots equally between several', async () => {
  const { ask, endOne, owners } = scene(8, { shared: 4 });
  ask('greedy', 60);
  await tick();
  expect(owners()).toHaveLength(8);
  ask('modest', 60);
  for (let index = 0; index < 20; index++) await endOne();
  expect(owners().toSorted()).toEqual(['greedy', 'greedy', 'modest', 'modest']);
});

test('keeps slots free for an owner whose callers are away for a moment', async () => {
  const { ask, endOne, owners } = scene(8, { shared: 4 });
  ask('modest', 2);
  ask('greedy', 60);
  await tick();
  await endOne();
  await endOne();
  await tick();
  expect(owners()).toEqual(['greedy', 'greedy']);
});

test('rejects what does not fit into the queue, then the latest work of the owner with the most in it', async () => {
  const { ask, endOne, outcomes, started } = scene(1, { limit: 3 });
  ask('greedy', 5);
  await tick();
  expect(outcomes).toEqual(['greedy busy']);
  ask('modest', 2);
  await tick();
  expect(outcomes.toSorted()).toEqual(['greedy busy', 'greedy busy', 'modest busy']);
  for (let index = 0; index < 4; index++) await endOne();
  expect(started).toEqual(['greedy', 'modest', 'greedy', 'greedy']);
});

test('an owner whose work goes last gets a slot only if no other owner waits', async () => {
  const { ask, endOne, started } = scene(1, { isLast: (owner) => owner === 'wasteful' });
  ask('wasteful', 3);
  ask('a', 2);
  ask('b', 2);
  for (let index = 0; index < 7; index++) await endOne();
  expect(started).toEqual(['wasteful', 'a', 'b', 'a', 'b', 'wasteful', 'wasteful']);
});

test('work that leaves its slot lets the next begin, but each owner’s unfinished work is limited', async () => {
  const { queue } = scene(2);
  const ends: (() => void)[] = [];
  const work = async (leave: () => void) => {
    const ended = new Promise<void>((resolve) => ends.push(resolve));
    await tick();
    leave();
    leave(); // changes nothing
    await ended;
  };
  for (let index = 0; index < 12; index++) void queue.run('a', work, () => expect.unreachable());
  for (let index = 0; index < 9; index++) await tick();
  expect(ends).toHaveLength(8);
  ends[0]?.();
  await tick();
  expect(ends).toHaveLength(9);
});

test('work that fails leaves its slot to the next', async () => {
  const { queue } = scene(1, { limit: 10 });
  const busy = () => 'busy';
  const failing = queue.run('a', () => Promise.reject(new Error('failed')), busy);
  const next = queue.run('b', async () => 'done', busy);
  await expect(failing).rejects.toThrow('failed');
  expect(await next).toBe('done');
  expect(await queue.run('a', async () => 'again', busy)).toBe('again');
});
