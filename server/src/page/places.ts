/** How many pages and downloads may be under way: few at once, some waiting, and the rest get 503. */

import { createSessionPool } from '../keys/session-pool.ts';

/** Runs the work once there is a place for it, or gives undefined at once where too many wait already. */
export type Places = <T>(work: () => Promise<T>) => Promise<T> | undefined;

export function createPlaces(atOnce: number, waiting: number): Places {
  // What the pool bounds here are no sessions, but who may ask for one: its queue is all that is wanted of it.
  const pool = createSessionPool({ open: () => undefined, discard: () => {} }, atOnce);
  let present = 0;
  return (work) => {
    if (present >= atOnce + waiting) return undefined;
    present += 1;
    return pool.use(work).finally(() => {
      present -= 1;
    });
  };
}
