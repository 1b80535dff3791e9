/** How many requests for signatures may be under way, and when a run gives up: by what its requests have brought so far. */

import { EventEmitter, once } from 'node:events';
import type { CodesignError } from '../../errors/codesign-error.ts';
import { mayHaveBeenCounted } from '../../service/errors.ts';
import type { StopSignal } from '../run.ts';

export type RequestTurns = ReturnType<typeof takeTurns>;

/** The right to make one request, and to retry it. */
export type RequestTurn = Awaited<ReturnType<RequestTurns['take']>>;

/** Requests of one run, retries included, as long as none has brought a signature. */
export const MOST_WITHOUT_SUCCESS = 5;
/** Requests in a row that may have been counted and brought no signature. */
export const MOST_UNCERTAIN_IN_A_ROW = 3;

/**
 * Until a signature has verified, requests go one at a time, and the first that may have been counted without one stops
 * the run. Later, `MOST_UNCERTAIN_IN_A_ROW` of them stop it; after the first of these, requests go one at a time again.
 * With timestamps, files are also signed one at a time until the first timestamp succeeds, so at most one signature is at risk.
 */
export function takeTurns(stop: StopSignal, needsTimestamps = false) {
  let isProven = false;
  let lacksTimestamp = needsTimestamps;
  let hasSucceeded = false;
  let uncertain = 0;
  let underWay = 0;
  let sent = 0;
  /** Turns that may still send a request, which counts already. */
  let reserved = 0;
  const changes = new EventEmitter();
  changes.setMaxListeners(0);

  const wake = (): boolean => changes.emit('change');
  const hasRequestLeft = (): boolean => hasSucceeded || sent + reserved < MOST_WITHOUT_SUCCESS;
  const mayStart = (): boolean =>
    hasRequestLeft() && (underWay === 0 || (isProven && !lacksTimestamp && uncertain === 0));
  const begin = () => {
    let isReserved = true;
    let failure: CodesignError | undefined;
    underWay += 1;
    reserved += 1;
    const release = (): void => {
      if (isReserved) reserved -= 1;
      isReserved = false;
    };
    return {
      /** To be called directly before each attempt is sent. */
      send(): void {
        release();
        sent += 1;
      },
      /** Throws the error of the last attempt when the run must not make another request. */
      repeat(error: CodesignError): void {
        if (isReserved) return;
        if (!hasRequestLeft()) throw error;
        isReserved = true;
        reserved += 1;
      },
      /** The signature that the service gave has verified. */
      succeed(): void {
        isProven = true;
        hasSucceeded = true;
        uncertain = 0;
        wake();
      },
      /** Stops the run when further requests would probably be wasted as well. */
      fail(error: CodesignError): void {
        failure = error;
        if (!mayHaveBeenCounted(error)) return;
        uncertain += 1;
        if (!isProven) stop.stop('a request brought no usable answer, and may have been counted', error);
        if (uncertain < MOST_UNCERTAIN_IN_A_ROW) return;
        stop.stop(`${uncertain} requests in a row brought no usable answer, and may have been counted`, error);
      },
      /** To be called once, at the end. */
      leave(): void {
        release();
        underWay -= 1;
        if (underWay === 0 && !hasRequestLeft()) {
          stop.stop(`none of the first ${sent} requests of this run brought a signature`, failure);
        }
        wake();
      },
    };
  };

  return {
    /** Whether a signature of this service and certificate number has verified with this certificate, in any run. */
    isProven: () => isProven,
    prove(): void {
      isProven = true;
      wake();
    },
    /** A timestamp was given. */
    proveTimestamps(): void {
      lacksTimestamp = false;
      wake();
    },
    /** Waits until a request may be made. Throws `not-attempted` once the run has been stopped. */
    async take() {
      stop.throwIfStopped();
      while (!mayStart()) {
        // When the run is stopped, that is thrown instead.
        await once(changes, 'change', { signal: stop.signal }).catch(() => undefined);
        stop.throwIfStopped();
      }
      return begin();
    },
  };
}
