/** All orders in which the requests of two runs can end: no file waits for ever, and the gates' limits are observed. */

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

interface Asked {
  readonly run: number;
  readonly work: string;
  answer(answer: Answer): void;
}

/** Each work has one signature, whichever run requests it. */
function openWorks() {
  const open = new Map<string, Promise<boolean>>();
  return {
    /** Returns undefined if the work is signed, and otherwise a function that ends the claim. */
    async claim(work: string): Promise<((isSigned: boolean) => void) | undefined> {
      for (let other = open.get(work); other !== undefined; other = open.get(work)) if (await other) return undefined;
      let settle = (_isSigned: boolean): void => undefined;
      const settled = new Promise<boolean>((resolve) => {
        settle = resolve;
      });
      open.set(work, settled);
      return (isSigned) => {
        if (!isSigned) open.delete(work);
        settle(isSigned);
      };
    },
  };
}

interface Course {
  readonly asked: readonly Asked[];
  readonly left: number;
}

/** Plays the choices from the beginning, and checks each state on the way. Each letter of a run is a file. */
async function play(runs: readonly string[], choices: readonly number[]): Promise<Course> {
  const works = openWorks();
  const asked: Asked[] = [];
  let left = runs.join('').length;
  const states = runs.map(() => ({ requests: 0, successes: 0, isSlow: false, isStopped: false }));

  runs.forEach((files, run) => {
    const state = states[run] ?? expect.fail();
    const stop = createStopSignal();
    stop.signal.addEventListener('abort', () => {
      state.isStopped = true;
    });
    const gate = openGate({ most: 2, needsTimestamp: false, stop });
    const sign = async (work: string): Promise<void> => {
      const settle = await works.claim(work);
      if (settle === undefined) return;
      try {
        using permit = await gate.enter();
        for (;;) {
          permit.send();
          state.requests += 1;
          const answer = await new Promise<Answer>((resolve) => void asked.push({ run, work, answer: resolve }));
          if (answer === 'good') {
            state.successes += 1;
            state.isSlow = false;
            permit.confirm({ stamped: false });
            return settle(true);
          }
          if (answer === 'throttled') await permit.repeat(THROTTLED);
          if (answer === 'uncertain') state.isSlow = true;
          if (answer === 'uncertain') throw permit.fail(UNCERTAIN);
          if (answer === 'refused') throw permit.fail(REFUSED);
        }
      } finally {
        settle(false);
      }
    };
    for (const work of files) {
      const done = (): void => {
        left -= 1;
      };
      sign(work).then(done, done);
    }
  });

  const check = async (): Promise<void> => {
    await turnOfEventLoop();
    // `expect` would take most of the time.
    if (left > 0 && asked.length === 0) expect.fail('a file waits for ever');
    states.forEach(({ requests, successes, isStopped }, run) => {
      const underWay = asked.filter((one) => one.run === run).length;
      const most = successes > 0 && !isStopped ? 2 : 1;
      if (underWay > most) expect.fail(`${underWay} of at most ${most} requests are under way`);
      if (successes === 0 && requests > 5) expect.fail(`${requests} requests without a success`);
    });
    // No work is requested twice at the same time.
    if (new Set(asked.map(({ work }) => work)).size < asked.length) expect.fail('a work is requested twice');
  };

  await check();
  for (const choice of choices) {
    const [one] = asked.splice(Math.floor(choice / ANSWERS.length), 1);
    const state = states[one?.run ?? 0];
    const before = state?.isSlow;
    one?.answer(ANSWERS[choice % ANSWERS.length] ?? 'good');
    await check();
    const underWay = asked.filter(({ run }) => run === one?.run).length;
    if (before && state?.isSlow && underWay > 1) expect.fail('more than one request is under way after two failures');
  }
  return { asked, left };
}

it.each([
  ['different files', ['abcd']],
  ['files with the same content', ['aabb']],
  ['two runs with the same files', ['abc', 'cba']],
])('%s', async (_what, runs) => {
  let courses = 0;
  const explore = async (choices: readonly number[]): Promise<void> => {
    const { asked, left } = await play(runs, choices);
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

const DEPTH = 5;
