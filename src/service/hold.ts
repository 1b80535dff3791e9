/** Makes all requests to the service wait if the service has throttled one of them. */

import { LONGEST_WAIT } from '../http/retry.ts';

interface HoldClock {
  readonly now: () => number;
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<unknown>;
}

export type Hold = ReturnType<typeof createHold>;

export function createHold({ now, sleep }: HoldClock) {
  let heldUntil: number | undefined;
  return {
    /** Resolves when requests are allowed again, and rejects when the signal is aborted. */
    async over(signal: AbortSignal | undefined): Promise<void> {
      while (heldUntil !== undefined) {
        const until = heldUntil;
        const left = Math.min(until - now(), LONGEST_WAIT);
        if (left > 0) await sleep(left, signal);
        if (heldUntil === until) heldUntil = undefined;
      }
      signal?.throwIfAborted();
    },
    /** The returned function ends the wait early. */
    begin(milliseconds: number): () => void {
      const until = Math.max(heldUntil ?? 0, now() + milliseconds);
      heldUntil = until;
      return () => {
        if (heldUntil === until) heldUntil = undefined;
      };
    },
  };
}
