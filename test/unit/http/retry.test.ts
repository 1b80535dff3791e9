import { describe, expect, test } from 'vitest';
import {
  type Attempt,
  LONGEST_WAIT,
  REAL_RETRY_CLOCK,
  type RetryOptions,
  readRetryAfter,
  retry,
  waitAfter,
} from '../../../src/http/retry.ts';

type Tried = Attempt<string, string>;
const transient = (failure: string, more: { maxAttempts?: number; retryAfter?: number } = {}): Tried => ({
  kind: 'transient',
  failure,
  maxAttempts: 3,
  ...more,
});

/** Retries with attempts that go so, the last one forever; waits are recorded instead of slept. */
async function run(outcomes: readonly Tried[], options: Partial<RetryOptions<string, string>> = {}) {
  const waits: number[] = [];
  const numbers: number[] = [];
  const clock = { sleep: async (milliseconds: number) => void waits.push(milliseconds), random: () => 0 };
  const attempt = async (number: number): Promise<Tried> => {
    numbers.push(number);
    return outcomes[Math.min(number, outcomes.length) - 1] ?? transient('none');
  };
  const retried = await retry({ attempt, clock, ...options }).catch((thrown: unknown) => ({ thrown }));
  return { retried, waits, numbers };
}

describe('retry', () => {
  test('ends with the first success', async () => {
    const { retried, waits, numbers } = await run([transient('busy'), { kind: 'done', result: 'good' }]);
    expect(retried).toEqual({ result: 'good', attempts: 2 });
    expect([numbers, waits]).toEqual([[1, 2], [250]]);
  });

  test.each(['final', 'may-have-arrived'] as const)('does not retry what is %s', async (kind) => {
    const { retried, waits } = await run([{ kind, failure: 'no' }]);
    expect(retried).toEqual({ failure: 'no', attempts: 1, mayRecover: false });
    expect(waits).toEqual([]);
  });

  test('stops after as many attempts as the last failure allows', async () => {
    expect(await run([transient('a', { maxAttempts: 1 })])).toMatchObject({ retried: { failure: 'a', attempts: 1 } });
    const { retried, waits } = await run([transient('a', { maxAttempts: 2 }), transient('b', { maxAttempts: 4 })]);
    expect(retried).toEqual({ failure: 'b', attempts: 4, mayRecover: false });
    expect(waits).toEqual([250, 500, 1000]);
  });

  test('waits as long as requested', async () => {
    const { waits } = await run([transient('a', { retryAfter: 7000 }), transient('b', { retryAfter: 0 })]);
    expect(waits).toEqual([7000, 0]);
  });

  test('does not start a wait that exceeds the budget', async () => {
    const { retried, waits } = await run([transient('a', { retryAfter: 600, maxAttempts: 9 })], { budget: 1500 });
    expect(waits).toEqual([600, 600]);
    expect(retried).toEqual({ failure: 'a', attempts: 3, mayRecover: true });
  });

  test('does not start a wait that is longer than the longest', async () => {
    const { retried, waits } = await run([transient('a', { retryAfter: 2001 })], { longestWait: 2000 });
    expect(retried).toEqual({ failure: 'a', attempts: 1, mayRecover: true });
    expect(waits).toEqual([]);
  });

  test('announces each retry before the wait, and makes none if that fails', async () => {
    const announced: string[] = [];
    const fault = new Error('not again');
    const beforeRetry = async (failure: string): Promise<void> => {
      announced.push(failure);
      if (announced.length === 2) throw fault;
    };
    const { retried, waits, numbers } = await run([transient('a'), transient('b')], { beforeRetry });
    expect(retried).toEqual({ thrown: fault });
    expect([announced, waits, numbers]).toEqual([['a', 'b'], [250], [1, 2]]);
  });

  test('ends a wait when the signal aborts', async () => {
    const outcomes = [transient('a', { retryAfter: 60_000 })];
    const { retried, numbers } = await run(outcomes, { clock: REAL_RETRY_CLOCK, signal: AbortSignal.timeout(10) });
    expect(retried).toMatchObject({ thrown: { name: 'AbortError' } });
    expect(numbers).toEqual([1]);
  });

  test('rejects with what an attempt throws', async () => {
    const fault = new Error('broken');
    const { retried } = await run([], { attempt: () => Promise.reject(fault) });
    expect(retried).toEqual({ thrown: fault });
  });
});

test('Retry-After: seconds, the three forms of an HTTP date, and nothing else', () => {
  const now = Date.parse('1994-11-06T08:49:00Z');
  expect(readRetryAfter('120', now)).toBe(120_000);
  expect(readRetryAfter(' 0 ', now)).toBe(0);
  expect(readRetryAfter('Sun, 06 Nov 1994 08:49:37 GMT', now)).toBe(37_000);
  expect(readRetryAfter('Sunday, 06-Nov-94 08:49:37 GMT', now)).toBe(37_000);
  expect(readRetryAfter('Sun Nov  6 08:49:37 1994', now)).toBe(37_000);
  expect(readRetryAfter('Sun, 06 Nov 1994 08:00:00 GMT', now)).toBe(0);
  expect(readRetryAfter('7, Sun, 06 Nov 1994 08:49:37 GMT, soon, 9', now)).toBe(37_000);
  expect(readRetryAfter('Sunday, 06-Nov-94 08:49:37 GMT, 60,', now)).toBe(60_000);
  for (const odd of [undefined, '', '-5', '1.5', 'soon', '1e3', '2020-01-01']) {
    expect(readRetryAfter(odd, now)).toBeUndefined();
  }
});

test('without Retry-After the wait doubles, up to 8 seconds, and is spread by chance', () => {
  const waits = (random: number) => [1, 2, 3, 4, 5, 6, 20].map((attempts) => waitAfter(attempts, random));
  expect(waits(0)).toEqual([250, 500, 1000, 2000, 4000, 4000, 4000]);
  expect(waits(1)).toEqual([500, 1000, 2000, 4000, 8000, 8000, 8000]);
});

test('with it, the wait is what is requested and a little more, up to a minute', () => {
  expect(waitAfter(1, 0, 0)).toBe(0);
  expect(waitAfter(9, 0.5, 3000)).toBe(3125);
  expect(waitAfter(1, 1, 3_600_000)).toBe(LONGEST_WAIT);
});
