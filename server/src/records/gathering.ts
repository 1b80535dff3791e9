/** How long the store's batches gather under load: for as long as calls wait at the HSM anyway. */

import type { Step } from './counting.ts';

/** In milliseconds. What gathers costs each call little time and the processor far less work. */
const LEAST = 10;
const MOST = 60;
/** For so many calls at the HSM a batch gathers for a millisecond: where many wait there, nobody loses by waiting here. */
const CALLS_A_MILLISECOND = 3;

export interface Gathering {
  /** Milliseconds. */
  time(): number;
  /** A step was taken: a call that got a place goes to the HSM, one that is counted, or is too late to be, comes from there. */
  taken(step: Step, place: boolean): void;
  /** A call gave its place back. */
  released(): void;
}

export function createGathering(): Gathering {
  /** Calls that have a place of a quota and no record yet. */
  let atHsm = 0;
  return {
    time: () => Math.min(Math.max(atHsm / CALLS_A_MILLISECOND, LEAST), MOST),
    taken(step, place) {
      atHsm += 'record' in step ? -1 : Number(place);
    },
    released() {
      atHsm -= 1;
    },
  };
}
