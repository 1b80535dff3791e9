/** The only limiter of requests for signatures: how many may be under way, and when a run gives up. */

import type { CodesignError } from '../../errors/codesign-error.ts';
import { isThrottled, mayHaveBeenCounted } from '../../service/errors.ts';
import type { StopSignal } from '../run.ts';

export interface GateOptions {
  /** Requests under way concurrently once the gate is open. */
  readonly most: number;
  /** Whether signatures get a timestamp. */
  readonly needsTimestamp: boolean;
  readonly stop: StopSignal;
}

export type Gate = ReturnType<typeof openGate>;

/** The right to make one request, and to retry it. Kept during back-off; disposing lets another one go ahead. */
export type Permit = Awaited<ReturnType<Gate['enter']>>;

/** Requests of one run, retries included, as long as none has brought a signature. */
export const MOST_WITHOUT_SUCCESS = 5;
/** Events in a row with requests that may have been counted and brought no signature. */
export const MOST_UNCERTAIN_IN_A_ROW = 3;

/**
 * Requests go one at a time until one of this run has brought a signature that verifies and, where timestamps are wanted, its
 * timestamp: until then each may be wasted. Then `most` go concurrently, and half of those under way after the service has
 * throttled one. After a request that may have been counted for nothing they go one at a time until the next success. One
 * event, such as a proxy that is reloaded, breaks all that are under way: of them only the first one counts.
 *
 * Who waits for another file or process must not hold a permit: that one may be waiting for it.
 */
export function openGate({ most, needsTimestamp, stop }: GateOptions) {
  /** Each is called with whether it may go ahead. */
  const waiting: ((mayGo: boolean) => void)[] = [];
  let isProven = false;
  let isOpen = false;
  let hasSucceeded = false;
  let underWay = 0;
  let sent = 0;
  let uncertain = 0;
  /** Uncertain requests that counted. One that was sent before the last of them is of the same event. */
  let events = 0;
  let width = most;
  /** Successes since the width has changed. */
  let successes = 0;
  /** A request that was sent before the last decrease says nothing new. */
  let decreases = 0;
  let repetitions = 0;

  const allowed = (): number => (isOpen && uncertain === 0 ? width : 1);
  const admit = (): void => {
    while (waiting.length > 0 && underWay < allowed()) {
      underWay += 1;
      waiting.shift()?.(true);
    }
  };
  /** `who`: a request that is to be repeated goes before those that were not made yet. */
  const place = (who: 'push' | 'unshift'): Promise<boolean> =>
    new Promise((resolve) => {
      waiting[who](resolve);
      admit();
    });
  const turnAway = (): void => {
    for (const resolve of waiting.splice(0)) resolve(false);
  };
  stop.signal.addEventListener('abort', turnAway, { once: true });

  const permit = () => {
    let hasPlace = true;
    let isRepetition = false;
    let seen = decreases;
    let seenEvents = events;
    let failure: CodesignError | undefined;
    const slowDown = (error: CodesignError): void => {
      if (!isThrottled(error) || seen !== decreases) return;
      decreases += 1;
      successes = 0;
      width = Math.max(1, Math.floor(Math.min(width, underWay) / 2));
    };
    const countUncertain = (error: CodesignError): void => {
      if (!mayHaveBeenCounted(error) || seenEvents < events) return;
      events += 1;
      uncertain += 1;
      if (uncertain < MOST_UNCERTAIN_IN_A_ROW) return;
      stop.stop(`requests brought no usable answer ${uncertain} times in a row, and may have been counted`, error);
    };
    return {
      /** To be called directly before each attempt is sent. */
      send(): void {
        sent += 1;
        seen = decreases;
        seenEvents = events;
      },
      /** Whether the request, whose outcome is unknown, may be sent once more. */
      mayRepeat(): boolean {
        if (isRepetition || repetitions === 0 || stop.signal.aborted) return false;
        repetitions -= 1;
        isRepetition = true;
        return true;
      },
      /**
       * After an attempt that made no signature or may be repeated, before the wait for the next one. If fewer may be under way by
       * now, waits for its place; not once the run has been stopped. Throws the error when the run must not make another request.
       */
      async repeat(error: CodesignError): Promise<void> {
        slowDown(error);
        countUncertain(error);
        if (!hasSucceeded && sent >= MOST_WITHOUT_SUCCESS) throw error;
        if (underWay <= allowed() || stop.signal.aborted) return;
        underWay -= 1;
        hasPlace = await place('unshift');
      },
      /** The signature has verified, and has its timestamp if it gets one. */
      confirm({ stamped }: { readonly stamped: boolean }): void {
        isProven = true;
        hasSucceeded = true;
        if (stamped || !needsTimestamp) isOpen = true;
        uncertain = 0;
        successes += 1;
        if (successes < width || width >= most) return;
        successes = 0;
        width += 1;
      },
      /** Stops the run when further requests would probably be wasted as well. */
      fail(error: CodesignError): void {
        failure = error;
        slowDown(error);
        if (mayHaveBeenCounted(error) && !isProven) {
          stop.stop('a request brought no usable answer, and may have been counted', error);
        }
        countUncertain(error);
      },
      [Symbol.dispose](): void {
        if (hasPlace) underWay -= 1;
        hasPlace = false;
        if (!hasSucceeded && sent >= MOST_WITHOUT_SUCCESS) {
          stop.stop(`none of the first ${sent} requests of this run brought a signature`, failure);
        }
        admit();
      },
    };
  };

  return {
    /** Whether a signature of this service and certificate number has verified with this certificate, in any run. */
    isProven: () => isProven,
    /** One has, in an earlier run. That opens the gate for no request, and lets a first failure not stop the run. */
    prove(): void {
      isProven = true;
    },
    /** So many requests of the run whose outcome is unknown may be sent once more, each at most once. Default: none. */
    allowRepetitions(most: number): void {
      repetitions = most;
    },
    /** Waits until a request may be made. Throws `not-attempted` once the run has been stopped. */
    async enter() {
      stop.throwIfStopped();
      await place('push');
      stop.throwIfStopped();
      return permit();
    },
  };
}
