/** How many requests for signatures are sent concurrently: half after 429 and 503, one more whenever all went well for a while. */

import pLimit from 'p-limit';
import { withinLimit } from '../http/limit.ts';
import { LONGEST_WAIT } from '../http/retry.ts';

export interface PaceOptions {
  /** Concurrent requests when nothing is throttled. */
  readonly most: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Rejects when the signal aborts. */
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<unknown>;
}

/** How a request went. */
export type Went = 'answered' | 'throttled' | 'unanswered';

export type Pace = ReturnType<typeof createPace>;

export function createPace({ most, now, sleep }: PaceOptions) {
  const limit = pLimit(most);
  let running = 0;
  let answered = 0;
  /** A request that was sent before the last decrease says nothing new. */
  let decreases = 0;
  let heldUntil: number | undefined;

  const slowDown = (seen: number): void => {
    if (seen !== decreases) return;
    decreases += 1;
    answered = 0;
    limit.concurrency = Math.max(1, Math.floor(Math.min(limit.concurrency, running) / 2));
  };

  const speedUp = (): void => {
    answered += 1;
    if (answered < limit.concurrency || limit.concurrency >= most) return;
    answered = 0;
    limit.concurrency += 1;
  };

  const untilWanted = async (signal: AbortSignal | undefined): Promise<void> => {
    while (heldUntil !== undefined) {
      const until = heldUntil;
      const left = Math.min(until - now(), LONGEST_WAIT);
      if (left > 0) await sleep(left, signal);
      if (heldUntil === until) heldUntil = undefined;
    }
    signal?.throwIfAborted();
  };

  const runNow = async <T>(task: () => Promise<readonly [T, Went]>): Promise<T> => {
    const seen = decreases;
    running += 1;
    let how: Went = 'unanswered';
    try {
      const [result, went] = await task();
      how = went;
      return result;
    } finally {
      if (how === 'throttled') slowDown(seen);
      if (how === 'answered') speedUp();
      running -= 1;
    }
  };

  return {
    /**
     * Runs the task in a slot, after any wait that the service asks for. Rejects when the signal aborts before the task starts.
     *
     * @param task gives its result and how the request went
     */
    run: <T>(task: () => Promise<readonly [T, Went]>, signal: AbortSignal | undefined): Promise<T> =>
      withinLimit(
        limit,
        async () => {
          await untilWanted(signal);
          return runNow(task);
        },
        signal,
      ),
    /** For a request that needs no slot: waits as long as the service asks for. */
    untilWanted,
    /** The service wants no request for so many milliseconds. The result ends that early. */
    hold(milliseconds: number): () => void {
      const until = Math.max(heldUntil ?? 0, now() + milliseconds);
      heldUntil = until;
      return () => {
        if (heldUntil === until) heldUntil = undefined;
      };
    },
  };
}
