/** How many requests are sent concurrently: the rule by itself. */

import { setMaxListeners } from 'node:events';
import { expect, test } from 'vitest';
import { LONGEST_WAIT } from '../../../src/http/retry.ts';
import { createPace, type Pace, type Went } from '../../../src/service/pace.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A clock that stands still except for sleeping. */
function openPace(most: number): { readonly pace: Pace; readonly sleeps: number[] } {
  const sleeps: number[] = [];
  let now = 1_000_000;
  const sleep = async (milliseconds: number, signal?: AbortSignal): Promise<void> => {
    signal?.throwIfAborted();
    sleeps.push(milliseconds);
    now += milliseconds;
  };
  return { pace: createPace({ most, now: () => now, sleep }), sleeps };
}

interface Slot {
  /** Ends what runs in it. */
  leave(went: Went): Promise<void>;
}

/** Resolves when the task has started. */
function enter(pace: Pace, signal?: AbortSignal): Promise<Slot> {
  return new Promise((resolve, reject) => {
    const running: Promise<void> = pace.run(
      () =>
        new Promise((end) => {
          const leave = (went: Went): Promise<void> => {
            end([undefined, went]);
            return running;
          };
          resolve({ leave });
        }),
      signal,
    );
    running.catch(reject);
  });
}

function enterMany(pace: Pace, count: number): Promise<readonly Slot[]> {
  return Promise.all(Array.from({ length: count }, () => enter(pace)));
}

/** Enters as often as is possible concurrently, then leaves. */
async function slotsOf(pace: Pace): Promise<number> {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  const slots: Slot[] = [];
  const entered = Array.from({ length: 20 }, () => enter(pace, controller.signal).then((slot) => slots.push(slot)));
  await turn();
  const count = slots.length;
  controller.abort();
  await Promise.allSettled(entered);
  for (const slot of slots) await slot.leave('unanswered');
  await turn();
  return count;
}

test('admits the configured number, and the next one when one has finished', async () => {
  const { pace } = openPace(3);
  const [first] = await enterMany(pace, 3);
  let isIn = false;
  const fourth = enter(pace).then(() => {
    isIn = true;
  });
  await turn();
  expect(isIn).toBe(false);
  await first?.leave('answered');
  await fourth;
});

test('halves once for all that were under way, whatever number of them is throttled', async () => {
  const { pace } = openPace(8);
  for (const slot of await enterMany(pace, 8)) await slot.leave('throttled');
  expect(await slotsOf(pace)).toBe(4);
});

test('halves again when a call that was sent afterwards is throttled, down to one', async () => {
  const { pace } = openPace(8);
  for (const left of [4, 2, 1, 1]) {
    for (const slot of await enterMany(pace, await slotsOf(pace))) await slot.leave('throttled');
    expect(await slotsOf(pace)).toBe(left);
  }
});

test('halves what was under way, not what might have been', async () => {
  const { pace } = openPace(100);
  for (const slot of await enterMany(pace, 4)) await slot.leave('throttled');
  expect(await slotsOf(pace)).toBe(2);
});

test('goes up by one after as many answers as there are places, and never beyond the most', async () => {
  const { pace } = openPace(4);
  for (const slot of await enterMany(pace, 4)) await slot.leave('throttled');
  for (const rooms of [2, 3, 4, 4]) {
    expect(await slotsOf(pace)).toBe(rooms);
    for (const slot of await enterMany(pace, rooms)) await slot.leave('answered');
  }
});

test('calls without an answer say nothing of the pace', async () => {
  const { pace } = openPace(4);
  for (const slot of await enterMany(pace, 4)) await slot.leave('throttled');
  for (let calls = 0; calls < 10; calls += 1) await (await enter(pace)).leave('unanswered');
  expect(await slotsOf(pace)).toBe(2);
});

test('every call honours a wait that the service requests, and no longer', async () => {
  const { pace, sleeps } = openPace(2);
  pace.hold(5000);
  await enterMany(pace, 2);
  expect(sleeps).toContain(5000);
  const before = sleeps.length;
  await pace.untilWanted(undefined);
  expect(sleeps).toHaveLength(before);
});

test('the longest of several waits counts, up to a minute', async () => {
  const { pace, sleeps } = openPace(2);
  pace.hold(5000);
  const endShorter = pace.hold(1000);
  await pace.untilWanted(undefined);
  expect(sleeps).toEqual([5000]);
  endShorter();
  pace.hold(10 * LONGEST_WAIT);
  await pace.untilWanted(undefined);
  expect(sleeps).toEqual([5000, LONGEST_WAIT]);
});

test('callers that wait for a slot or for the service are notified of the end', async () => {
  const { pace } = openPace(1);
  const slot = await enter(pace);
  const controller = new AbortController();
  const waiting = enter(pace, controller.signal);
  controller.abort();
  await expect(waiting).rejects.toThrow();
  await slot.leave('answered');
  pace.hold(1000);
  await expect(enter(pace, controller.signal)).rejects.toThrow();
  expect(await slotsOf(pace)).toBe(1);
});
