/** How many calls go out at once: the rule by itself. */

import { setMaxListeners } from 'node:events';
import { expect, test } from 'vitest';
import { LONGEST_WAIT } from '../../../src/http/waiting.ts';
import { createPace, type Pace, type Place } from '../../../src/service/pace.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A clock that stands still but for sleeping. */
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

/** Lets in as many as may be under way at once, then all leave. */
async function room(pace: Pace): Promise<number> {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  const places: Place[] = [];
  const asked = Array.from({ length: 20 }, () => pace.enter(controller.signal).then((place) => places.push(place)));
  await turn();
  const count = places.length;
  controller.abort();
  await Promise.allSettled(asked);
  for (const place of places) place.leave('unanswered');
  return count;
}

async function enter(pace: Pace, count: number): Promise<readonly Place[]> {
  return Promise.all(Array.from({ length: count }, () => pace.enter(undefined)));
}

test('lets in as many as it is told, and the next one when one leaves', async () => {
  const { pace } = openPace(3);
  const [first] = await enter(pace, 3);
  let isIn = false;
  const fourth = pace.enter(undefined).then(() => {
    isIn = true;
  });
  await turn();
  expect(isIn).toBe(false);
  first?.leave('answered');
  await fourth;
});

test('halves once for all that were under way, whatever number of them is throttled', async () => {
  const { pace } = openPace(8);
  for (const place of await enter(pace, 8)) place.leave('throttled');
  expect(await room(pace)).toBe(4);
});

test('halves again when a call that was sent afterwards is throttled, down to one', async () => {
  const { pace } = openPace(8);
  for (const left of [4, 2, 1, 1]) {
    for (const place of await enter(pace, await room(pace))) place.leave('throttled');
    expect(await room(pace)).toBe(left);
  }
});

test('halves what was under way, not what might have been', async () => {
  const { pace } = openPace(100);
  for (const place of await enter(pace, 4)) place.leave('throttled');
  expect(await room(pace)).toBe(2);
});

test('goes up by one after as many answers as there are places, and never beyond the most', async () => {
  const { pace } = openPace(4);
  for (const place of await enter(pace, 4)) place.leave('throttled');
  for (const rooms of [2, 3, 4, 4]) {
    expect(await room(pace)).toBe(rooms);
    for (const place of await enter(pace, rooms)) place.leave('answered');
  }
});

test('calls without an answer say nothing of the pace', async () => {
  const { pace } = openPace(4);
  for (const place of await enter(pace, 4)) place.leave('throttled');
  for (let calls = 0; calls < 10; calls += 1) (await pace.enter(undefined)).leave('unanswered');
  expect(await room(pace)).toBe(2);
});

test('a wait that the service asks for is kept by every call, and over when it is over', async () => {
  const { pace, sleeps } = openPace(2);
  pace.hold(5000);
  await enter(pace, 2);
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

test('whoever waits for a place or for the service is told when all is to end', async () => {
  const { pace } = openPace(1);
  const [place] = await enter(pace, 1);
  const controller = new AbortController();
  const waiting = pace.enter(controller.signal);
  controller.abort();
  await expect(waiting).rejects.toThrow();
  place?.leave('answered');
  pace.hold(1000);
  await expect(pace.enter(controller.signal)).rejects.toThrow();
  expect(await room(pace)).toBe(1);
});
