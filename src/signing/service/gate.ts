import type { CodesignError } from '../../errors/codesign-error.ts';
import { isThrottled, mayHaveBeenCounted } from '../../service/errors.ts';
import type { StopSignal } from '../run.ts';

export interface GateOptions {
  readonly most: number;
  readonly needsTimestamp: boolean;
  readonly stop: StopSignal;
}

export type Gate = ReturnType<typeof openGate>;

/** Permission to send one request and its retries, until it is disposed. */
export type Permit = Awaited<ReturnType<Gate['enter']>>;

/** Limit on requests, including retries, before the first signature. */
export const MOST_WITHOUT_SUCCESS = 5;
/** Limit on consecutive events in which requests may have been counted but returned no signature. */
export const MOST_UNCERTAIN_IN_A_ROW = 3;

/**
 * The only limit on concurrent signature requests. Requests are sent one at a time until one returns a verified signature
 * (with a timestamp if required), because each of them may be wasted. After that, up to `most` run concurrently. When the
 * service throttles a request, the limit becomes half of the number of requests in progress. If a request may have been
 * counted but returned no signature, requests are sent one at a time until the next success. One event, such as the
 * reload of a proxy, can break all requests in progress, so only its first failure is counted.
 *
 * A caller must not keep its permit while it waits for another file or process, which may wait for that permit.
 */
export function openGate({ most, needsTimestamp, stop }: GateOptions) {
  /** Each callback is called with true if its caller may continue. */
  const waiting: ((mayGo: boolean) => void)[] = [];
  let isProven = false;
  let isOpen = false;
  let hasSucceeded = false;
  let underWay = 0;
  let sent = 0;
  let uncertain = 0;
  /** Number of events. A request that was sent before the last event and fails belongs to that event. */
  let events = 0;
  let width = most;
  let successes = 0;
  /** Number of reductions. If a request was sent before the last reduction, its throttling shows nothing new. */
  let decreases = 0;
  let repetitions = 0;

  const allowed = (): number => (isOpen && uncertain === 0 ? width : 1);
  const admit = (): void => {
    while (waiting.length > 0 && underWay < allowed()) {
      underWay += 1;
      waiting.shift()?.(true);
    }
  };
  /** Retries (`unshift`) go before all first attempts. */
  const queue = (method: 'push' | 'unshift'): Promise<boolean> =>
    new Promise((resolve) => {
      waiting[method](resolve);
      admit();
    });
  const turnAway = (): void => {
    for (const resolve of waiting.splice(0)) resolve(false);
  };
  stop.signal.addEventListener('abort', turnAway, { once: true });

  const permit = () => {
    let hasSlot = true;
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
      stop.stop(`requests brought no usable response ${uncertain} times in a row, and may have been counted`, error);
    };
    return {
      send(): void {
        sent += 1;
        seen = decreases;
        seenEvents = events;
      },
      mayRepeat(): boolean {
        if (isRepetition || repetitions === 0 || stop.signal.aborted) return false;
        repetitions -= 1;
        isRepetition = true;
        return true;
      },
      /**
       * Must be called before the wait that precedes a retry. If the limit has been reduced, waits for a slot, unless the
       * run was stopped. Throws the error if the run may not send another request.
       */
      async repeat(error: CodesignError): Promise<void> {
        slowDown(error);
        countUncertain(error);
        if (!hasSucceeded && sent >= MOST_WITHOUT_SUCCESS) throw error;
        if (underWay <= allowed() || stop.signal.aborted) return;
        underWay -= 1;
        hasSlot = await queue('unshift');
      },
      /** Must be called when the signature has been verified and, if required, timestamped. */
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
      /** Stops the run if further requests would probably also be wasted. */
      fail(error: CodesignError): void {
        failure = error;
        slowDown(error);
        if (mayHaveBeenCounted(error) && !isProven) {
          stop.stop('a request brought no usable response, and may have been counted', error);
        }
        countUncertain(error);
      },
      [Symbol.dispose](): void {
        if (hasSlot) underWay -= 1;
        hasSlot = false;
        if (!hasSucceeded && sent >= MOST_WITHOUT_SUCCESS) {
          stop.stop(`none of the first ${sent} requests in this run brought a signature`, failure);
        }
        admit();
      },
    };
  };

  return {
    /** True if this or an earlier run has verified a signature of this service and certificate number. */
    isProven: () => isProven,
    /** After a proof from an earlier run, the first failure does not stop the run. */
    prove(): void {
      isProven = true;
    },
    /** Number of requests with an unknown outcome that may be retried, each once. The default is 0. */
    allowRepetitions(most: number): void {
      repetitions = most;
    },
    /** Returns undefined if a request would have to wait. */
    enterIfFree() {
      if (stop.signal.aborted || waiting.length > 0 || underWay >= allowed()) return undefined;
      underWay += 1;
      return permit();
    },
    /** Waits until a request may be sent. Throws `not-attempted` if the run was stopped. */
    async enter() {
      stop.throwIfStopped();
      await queue('push');
      stop.throwIfStopped();
      return permit();
    },
  };
}
