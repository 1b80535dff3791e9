/** What was signed on each of the latest days, added up by the database. */

import { setImmediate as othersTurn } from 'node:timers/promises';
import type { Store } from '../records/store.ts';
import { DAY, dayOf } from './texts.ts';

/** How many days the database adds up before signatures have their turn. */
const AT_A_TIME = 5;

export interface SignedDay {
  /** As in 2030-12-31, UTC. */
  readonly day: string;
  /** Counted ones, by what was reported of them. */
  readonly succeeded: number;
  readonly failed: number;
  readonly none: number;
  /** Those whose answer never went out. */
  readonly uncounted: number;
}

/** The days up to today, oldest first, each of them. */
export async function signedPerDay(
  records: Pick<Store['records'], 'perDay'>,
  days: number,
  now: Date,
): Promise<readonly SignedDay[]> {
  const tomorrow = Math.floor(now.getTime() / DAY) * DAY + DAY;
  const starts = Array.from({ length: days }, (_, index) => tomorrow - (days - index) * DAY);
  const sums = new Map(
    starts.map((start) => [dayOf(new Date(start)), { succeeded: 0, failed: 0, none: 0, uncounted: 0 }]),
  );
  for (let index = 0; index < days; index += AT_A_TIME) {
    const [first = tomorrow, end = tomorrow] = [starts[index], starts[index + AT_A_TIME]];
    for (const { day, counted, report, signatures } of await records.perDay(new Date(first), new Date(end))) {
      const sum = sums.get(day);
      if (sum === undefined) continue;
      if (!counted) sum.uncounted += signatures;
      else if (report === undefined) sum.none += signatures;
      else sum[report === 1 ? 'succeeded' : 'failed'] += signatures;
    }
    await othersTurn();
  }
  return [...sums].map(([day, sum]) => ({ day, ...sum }));
}
