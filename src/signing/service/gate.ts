/** The only limit of concurrent signature requests. It also decides when a run stops. */

import type { CodesignError } from '../../errors/codesign-error.ts';
import { isThrottled, mayHaveBeenCounted } from '../../service/errors.ts';
import type { StopSignal } from '../run.ts';

export interface GateOptions {
  /** Number of concurrent requests after the gate is open. */
  readonly most: number;
  /** Set if signatures get a timestamp. */
  readonly needsTimestamp: boolean;
  readonly stop: StopSignal;
}

export type Gate = ReturnType<typeof openGate>;

/** Permission to make one request and to retry it. Kept during back-off. Disposing lets another request start. */
export type Permit = Awaited<ReturnType<Gate['enter']>>;

/** Limit of requests of one run, including retries, as long as none has returned a signature. */
export const MOST_WITHOUT_SUCCESS = 5;
/** Limit of consecutive events in which requests may have been counted but returned no signature. */
export const MOST_UNCERTAIN_IN_A_ROW = 3;

/**
 * Requests are sent one at a time until one of this run has returned a signature that verifies, with its timestamp if
 * one is required, because each may be wasted until then. Then up to `most` run concurrently. After the service
 * throttles a request, the limit is half of those under way. After a request that may have been counted without a
 * signature, requests are sent one at a time until the next success. One event, such as a proxy reload, breaks all
 * requests under way: only the first of them counts.
 *
 * A caller that waits for another file or process must not keep a permit, because the other one may be waiting for it.
 */
export function openGate({ most, needsTimestamp, stop }: GateOptions) {
  /** Each callback gets whether its caller may continue. */
  const waiting: ((mayGo: boolean) => void)[] = [];
  let isProven = false;
  let isOpen = false;
  let hasSucceeded = false;
  let underWay = 0;
  let sent = 0;
  let uncertain = 0;
  /**
   * Number of uncertain requests that counted. A request that was sent before the last of them belongs to the same
   * event.
   */
  let events = 0;
  let width = most;
  /** Number of successes since the limit last changed. */
  let successes = 0;
  /** A request that was sent before the last decrease gives no new information. */
  let decreases = 0;
  let repetitions = 0;

  const allowed = (): number => (isOpen && uncertain === 0 ? width : 1);
  const admit = (): void => {
    while (waiting.length > 0 && underWay < allowed()) {
      underWay += 1;
      waiting.shift()?.(true);
    }
  };
  /** `who`: a retry goes before requests that were not made yet. */
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
      /** Must be called directly before each attempt is sent. */
      send(): void {
        sent += 1;
        seen = decreases;
        seenEvents = events;
      },
      /** Checks whether the request, whose outcome is unknown, may be retried. */
      mayRepeat(): boolean {
        if (isRepetition || repetitions === 0 || stop.signal.aborted) return false;
        repetitions -= 1;
        isRepetition = true;
        return true;
      },
      /**
       * Called after an attempt that made no signature or may be retried, before the wait for the next one. If the
       * limit is lower by now, waits for a slot, unless the run has been stopped. Throws the error if the run must not
       * make another request.
       */
      async repeat(error: CodesignError): Promise<void> {
        slowDown(error);
        countUncertain(error);
        if (!hasSucceeded && sent >= MOST_WITHOUT_SUCCESS) throw error;
        if (underWay <= allowed() || stop.signal.aborted) return;
        underWay -= 1;
        hasPlace = await place('unshift');
      },
      /** Called when the signature has been verified, and has its timestamp if it needs one. */
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
      /** Stops the run if further requests would probably be wasted too. */
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
    /**
     * Checks whether a signature of this service and certificate number has verified with this certificate, in any run.
     */
    isProven: () => isProven,
    /**
     * Called if a signature has verified in an earlier run. This does not open the gate, but a first failure then does
     * not stop the run.
     */
    prove(): void {
      isProven = true;
    },
    /**
     * Allows up to `most` retries of requests whose outcome is unknown, at most one for each request. Default: none.
     */
    allowRepetitions(most: number): void {
      repetitions = most;
    },
    /** Waits until a request may be made. Throws `not-attempted` if the run has been stopped. */
    async enter() {
      stop.throwIfStopped();
      await place('push');
      stop.throwIfStopped();
      return permit();
    },
  };
}
