/** How many calls for signatures go out at once: half as many after 429 and 503, one more again whenever all went well for a while. */

import { LONGEST_WAIT } from '../http/waiting.ts';

export interface PaceOptions {
  /** Calls at once, when nothing is throttled. */
  readonly most: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Rejects when the signal aborts. */
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<unknown>;
}

export interface Pace {
  /** Waits for a place, and as long as the service wants nobody to call. Rejects when the signal aborts meanwhile. */
  enter(signal: AbortSignal | undefined): Promise<Place>;
  /** For a call that needs no place: waits as long as the service wants nobody to call. */
  untilWanted(signal: AbortSignal | undefined): Promise<void>;
  /** The service wants no call for so many milliseconds. Gives what ends that, for whoever has waited. */
  hold(milliseconds: number): () => void;
}

export interface Place {
  /** To be called once. */
  leave(how: 'answered' | 'throttled' | 'unanswered'): void;
}

export function createPace({ most, now, sleep }: PaceOptions): Pace {
  let allowed = most;
  let underWay = 0;
  let answered = 0;
  /** Which decrease a call has seen: what was sent before the last one says nothing new. */
  let decreases = 0;
  let heldUntil: number | undefined;
  const waiting = new Set<() => void>();

  const letIn = (): void => {
    for (const wake of [...waiting].slice(0, Math.max(0, allowed - underWay))) wake();
  };

  const turn = (signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve) => {
      const wake = (): void => {
        waiting.delete(wake);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      waiting.add(wake);
      signal?.addEventListener('abort', wake, { once: true });
    });

  const slowDown = (seen: number): void => {
    if (seen !== decreases) return;
    decreases += 1;
    answered = 0;
    allowed = Math.max(1, Math.floor(Math.min(allowed, underWay) / 2));
  };

  const speedUp = (): void => {
    answered += 1;
    if (answered < allowed || allowed >= most) return;
    answered = 0;
    allowed += 1;
  };

  const untilWanted = async (signal: AbortSignal | undefined): Promise<void> => {
    while (heldUntil !== undefined) {
      const until = heldUntil;
      const left = Math.min(until - now(), LONGEST_WAIT);
      if (left > 0) await sleep(left, signal);
      if (heldUntil === until) heldUntil = undefined;
    }
  };

  return {
    async enter(signal) {
      for (;;) {
        await untilWanted(signal);
        signal?.throwIfAborted();
        if (underWay < allowed) break;
        await turn(signal);
      }
      underWay += 1;
      const seen = decreases;
      return {
        leave(how) {
          if (how === 'throttled') slowDown(seen);
          if (how === 'answered') speedUp();
          underWay -= 1;
          letIn();
        },
      };
    },
    untilWanted,
    hold(milliseconds) {
      const until = Math.max(heldUntil ?? 0, now() + milliseconds);
      heldUntil = until;
      return () => {
        if (heldUntil === until) heldUntil = undefined;
      };
    },
  };
}
