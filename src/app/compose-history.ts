import { matchesAnyOf } from '../files/file-names.ts';
import type { HistoryEntry } from '../journal/journal.ts';
import { resolve } from '../options/resolve.ts';
import type { Environment, LibraryOptionsOf } from '../options/table.ts';
import { composeJournalReading } from './compose-local.ts';

export async function composeHistory(options: LibraryOptionsOf<'history'>, env: Environment) {
  const { since = '', limit, file: patterns, outcome: outcomes } = resolve('history', options, env);
  const isFile = await matchesAnyOf(patterns);
  const isSelected = ({ at, file, outcome }: HistoryEntry): boolean =>
    at >= since &&
    (outcomes.length === 0 || outcomes.includes(outcome)) &&
    (patterns.length === 0 || patterns.includes(file) || isFile(file));
  const journal = await composeJournalReading(env);
  const selected = select(journal.history(), isSelected);
  const entries = limit === undefined ? selected : latest(selected, limit);
  return { entries, warnings: journal.warnings, [Symbol.dispose]: () => journal[Symbol.dispose]() };
}

async function* select(
  entries: AsyncIterable<HistoryEntry>,
  isSelected: (entry: HistoryEntry) => boolean,
): AsyncGenerator<HistoryEntry> {
  for await (const entry of entries) if (isSelected(entry)) yield entry;
}

async function* latest(entries: AsyncIterable<HistoryEntry>, limit: number): AsyncGenerator<HistoryEntry> {
  const kept: HistoryEntry[] = [];
  let count = 0;
  for await (const entry of entries) {
    kept[count % limit] = entry;
    count += 1;
  }
  const oldest = count > limit ? count % limit : 0;
  yield* kept.slice(oldest);
  yield* kept.slice(0, oldest);
}
