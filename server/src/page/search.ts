/** Searches the records in steps, so that signing goes on in between: for one page, or for all of a download. */

import { type Search, stretches } from '../records/records.ts';
import { CSV_HEADING, csvLine, shown } from '../records/shown.ts';
import type { Client, Position, SearchFilter, SignatureRecord } from '../records/store.ts';
import type { Place } from './query.ts';

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

/** The filtered records as CSV, as `export` writes them, oldest first, up to now: during many builds a download would not end otherwise. */
export async function* csvOf(
  records: Search,
  filter: SearchFilter,
  clients: readonly Client[],
  now: Date,
): AsyncGenerator<string> {
  const byId = new Map(clients.map((client) => [client.id, client]));
  const until = filter.until !== undefined && filter.until < now ? filter.until : now;
  yield `${CSV_HEADING}\n`;
  for await (const stretch of stretches(records, { ...filter, until }, { order: 'oldest first', after: undefined })) {
    if (stretch.records.length > 0) {
      yield stretch.records.map((record) => `${csvLine(shown(record, byId))}\n`).join('');
    }
  }
}
