/** The records that are filtered as CSV, as `export` writes them: sent while they are read, so that memory holds a stretch of them. */

import { CSV_HEADING, csvLine, shown } from '../records/shown.ts';
import type { Client, SearchFilter } from '../records/store.ts';
import { type Search, stretches } from './search.ts';
import { dayOf } from './texts.ts';

/** What was signed before now, oldest first: without an end of its own a download beside many builds would have none. */
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

export function fileName(now: Date): string {
  return `signatures-${dayOf(now)}.csv`;
}
