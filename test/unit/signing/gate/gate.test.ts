import { setImmediate as turnOfEventLoop } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { networkErrors, statusErrors } from '../../../../src/service/errors.ts';
import { createStopSignal } from '../../../../src/signing/run.ts';
import { type Gate, type GateOptions, openGate, type Permit } from '../../../../src/signing/service/gate.ts';

const TIMED_OUT = networkErrors('sign-timed-out', { origin: '', detail: '' });
const THROTTLED = statusErrors('throttled', { status: 429 }, { httpStatus: 429 });

const open = (given: Partial<GateOptions> = {}) =>
  openGate({ most: 3, needsTimestamp: false, stop: createStopSignal(), ...given });

/** One that has brought a signature. */
async function opened(most: number): Promise<Gate> {
  const gate = open({ most });
  leave(succeed(await enter(gate)));
  return gate;
}

async function enter(gate: Gate): Promise<Permit> {
  const permit = await gate.enter();
  permit.send();
  return permit;
}

function leave(permit: Permit): void {
  permit[Symbol.dispose]();
}

function succeed(permit: Permit, stamped = false): Permit {
  permit.confirm({ stamped });
  return permit;
}

const enterMany = (gate: Gate, count: number): Promise<readonly Permit[]> =>
  Promise.all(Array.from({ length: count }, () => enter(gate)));

/** Those of so many requests that may go ahead now. */
async function entered(gate: Gate, count = 20): Promise<readonly Permit[]> {
  const permits: Permit[] = [];
  for (let index = 0; index < count; index += 1) void enter(gate).then((permit) => permits.push(permit));
  await turnOfEventLoop();
  return permits;
}

test('requests are sent one at a time until one has returned a signature, then as many as are allowed', async () => {
  const gate = open();
  gate.prove();
  const permits = await entered(gate);
  expect(permits).toHaveLength(1);
  for (const permit of permits) leave(succeed(permit));
  expect(await entered(gate, 0)).toEqual([]);
  expect(permits).toHaveLength(4);
});

test('where timestamps are wanted, it opens with the first one', async () => {
  const gate = open({ needsTimestamp: true });
  leave(succeed(await enter(gate)));
  const [second] = await entered(gate, 1);
  expect(await entered(gate, 1)).toEqual([]);
  leave(succeed(second as Permit, true));
  await turnOfEventLoop();
  expect(await entered(gate, 2)).toHaveLength(2);
});

test('after one that may have been counted without a signature, requests are sent one at a time until the next success', async () => {
  const gate = await opened(3);
  const failing = await enter(gate);
  failing.fail(TIMED_OUT);
  const others = await entered(gate, 3);
  expect(others).toEqual([]);
  leave(failing);
  await turnOfEventLoop();
  expect(others).toHaveLength(1);
  leave(succeed(others[0] as Permit));
  await turnOfEventLoop();
  expect(others).toHaveLength(3);
});

/** The number of requests that may run concurrently. */
async function widthOf(gate: Gate): Promise<number> {
  const permits: Permit[] = [];
  for (let permit = gate.enterIfFree(); permit !== undefined; permit = gate.enterIfFree()) permits.push(permit);
  permits.forEach(leave);
  return permits.length;
}

async function throttle(gate: Gate, count: number): Promise<void> {
  const permits = await enterMany(gate, count);
  for (const permit of permits) permit.fail(THROTTLED);
  for (const permit of permits) leave(permit);
}

test('halves once for all that were under way, and again for later ones', async () => {
  const wide = await opened(100);
  await throttle(wide, 4);
  expect(await widthOf(wide)).toBe(2);
  const gate = await opened(8);
  for (const left of [4, 2, 1, 1]) {
    await throttle(gate, await widthOf(gate));
    expect(await widthOf(gate)).toBe(left);
  }
});

test('of those that are throttled, half wait until the others are done', async () => {
  const gate = await opened(4);
  const permits = await enterMany(gate, 4);
  let going = 0;
  for (const permit of permits) void permit.repeat(THROTTLED).then(() => going++);
  await turnOfEventLoop();
  expect(going).toBe(2);
  leave(permits[3] as Permit);
  await turnOfEventLoop();
  expect(going).toBe(3);
});

test('grows by one after as many successes as the limit, and never beyond the maximum', async () => {
  const gate = await opened(4);
  await throttle(gate, 4);
  for (const width of [2, 3, 4, 4]) {
    expect(await widthOf(gate)).toBe(width);
    for (const permit of await enterMany(gate, width)) leave(succeed(permit));
  }
});
