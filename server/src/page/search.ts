/** Walks through many records a stretch at a time, so that signing goes on in between, and finds those of one page. */

import { setImmediate as othersTurn } from 'node:timers/promises';
import type { Position, SearchFilter, SignatureRecord, Store, Stretch } from '../records/store.ts';
import type { Place } from './query.ts';

/** The longest stretch: some milliseconds of the database's time. */
const LONGEST = 2000;
/** How much longer each stretch is than the one before: where little fits, there is much to look at. */
const GROWTH = 4;

export type Search = Pick<Store['records'], 'search'>;

/** The stretches from a place on, until there is no more. @param first how many records the first one has */
export async function* stretches(
  records: Search,
  filter: SearchFilter,
  { order, after }: { readonly order: Place['order']; readonly after: Position | undefined },
  first = LONGEST,
): AsyncGenerator<Stretch & { readonly size: number }> {
  let from: Position | undefined = after;
  for (let size = first; ; size = Math.min(size * GROWTH, LONGEST)) {
    const stretch = await records.search(filter, { order, size, after: from });
    yield { ...stretch, size };
    if (stretch.next === undefined) return;
    from = stretch.next;
    await othersTurn();
  }
}

/** The records of one page. */
export interface Found {
  /** Newest first. */
  readonly records: readonly SignatureRecord[];
  /** Where older ones are, and newer ones. */
  readonly older: Position | undefined;
  readonly newer: Position | undefined;
  /** Whether it looked at so many that it stopped before it knew of a whole page. */
  readonly stopped: boolean;
}

/** @param bounds how many records a page has, and how many are looked at for one */
export async function findPage(
  records: Search,
  filter: SearchFilter,
  place: Place,
  bounds: { readonly shown: number; readonly lookedAt: number },
): Promise<Found> {
  const found: SignatureRecord[] = [];
  let rest: Position | undefined;
  let lookedAt = 0;
  for await (const { records: fitting, next, size } of stretches(records, filter, place, bounds.shown + 1)) {
    for (const record of fitting) found.push(record);
    lookedAt += size;
    rest = next;
    if (found.length > bounds.shown || lookedAt >= bounds.lookedAt) break;
  }
  const full = found.length > bounds.shown;
  const shown = found.slice(0, bounds.shown);
  const further = full ? shown.at(-1) : rest;
  const stopped = !full && rest !== undefined;
  if (place.order === 'newest first') {
    return { records: shown, older: further, newer: place.after && (shown[0] ?? place.after), stopped };
  }
  // Fewer newer ones than a page holds: then the newest page is what is meant.
  if (!full && !stopped) return await findPage(records, filter, { order: 'newest first', after: undefined }, bounds);
  const newestFirst = shown.toReversed();
  return { records: newestFirst, older: newestFirst.at(-1) ?? place.after, newer: further, stopped };
}
