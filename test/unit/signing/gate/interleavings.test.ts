/** All orders in which the requests of a run can end: no file waits forever, and the limits are observed. */

import { setImmediate as turnOfEventLoop } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { networkErrors, statusErrors } from '../../../../src/service/errors.ts';
import { createStopSignal } from '../../../../src/signing/run.ts';
import { openGate } from '../../../../src/signing/service/gate.ts';

const UNCERTAIN = networkErrors('sign-timed-out', { origin: '', detail: '' });
const REFUSED = statusErrors('http-error', { operation: 'sign', status: 400, isUncertain: false }, { httpStatus: 400 });
const THROTTLED = statusErrors('throttled', { status: 429 }, { httpStatus: 429 });

const ANSWERS = ['good', 'uncertain', 'refused', 'throttled'] as const;
type Answer = (typeof ANSWERS)[number];

const FILES = 5;
const DEPTH = 5;

interface Course {
  /** Functions that answer the requests under way. */
  readonly asked: readonly unknown[];
  readonly left: number;
}

/** Plays the choices from the beginning, and checks each state on the way. */
async function play(choices: readonly number[]): Promise<Course> {
  const asked: ((answer: Answer) => void)[] = [];
  let left = FILES;
  let [requests, successes] = [0, 0];
  let isSlow = false;
  const stop = createStopSignal();
  const gate = openGate({ most: 2, needsTimestamp: false, stop });

  const sign = async (): Promise<void> => {
    using permit = await gate.enter();
    for (;;) {
      permit.send();
      requests += 1;
      const answer = await new Promise<Answer>((resolve) => void asked.push(resolve));
      if (answer === 'good') {
        successes += 1;
        isSlow = false;
        return permit.confirm({ stamped: false });
      }
      if (answer === 'throttled') await permit.repeat(THROTTLED);
      if (answer === 'uncertain') isSlow = true;
      if (answer === 'uncertain') throw permit.fail(UNCERTAIN);
      if (answer === 'refused') throw permit.fail(REFUSED);
    }
  };
  const done = (): void => {
    left -= 1;
  };
  for (let file = 0; file < FILES; file += 1) sign().then(done, done);

  const check = async (): Promise<void> => {
    await turnOfEventLoop();
    // `expect` would take most of the time.
    if (left > 0 && asked.length === 0) expect.fail('a file waits for ever');
    const most = successes > 0 && !stop.signal.aborted ? 2 : 1;
    if (asked.length > most) expect.fail(`${asked.length} of at most ${most} requests are under way`);
    if (successes === 0 && requests > 5) expect.fail(`${requests} requests without a success`);
  };

  await check();
  for (const choice of choices) {
    const [one] = asked.splice(Math.floor(choice / ANSWERS.length), 1);
    const before = isSlow;
    one?.(ANSWERS[choice % ANSWERS.length] ?? 'good');
    await check();
    if (before && isSlow && asked.length > 1) expect.fail('more than one request is under way after two failures');
  }
  return { asked, left };
}

it('ends in every order', async () => {
  let courses = 0;
  const explore = async (choices: readonly number[]): Promise<void> => {
    const { asked, left } = await play(choices);
    if (left === 0) {
      courses += 1;
      return;
    }
    if (choices.length === DEPTH) return;
    for (let choice = 0; choice < asked.length * ANSWERS.length; choice += 1) await explore([...choices, choice]);
  };
  await explore([]);
  expect(courses).toBeGreaterThan(20);
});
