/** `codesign-remote history`: every call the journal knows, as a table, a document or for spreadsheets; never all of them in memory. */

import { composeJournalReading } from '../../app/compose-journal.ts';
import { cliErrors } from '../errors.ts';
import type { Io } from '../io.ts';
import { historyCsv } from '../output/history/history-csv.ts';
import type { HistoryForm } from '../output/history/history-form.ts';
import { historyJson } from '../output/history/history-json.ts';
import { addToSums, type Sums, sumsInOrder } from '../output/history/history-sums.ts';
import { historyText } from '../output/history/history-text.ts';
import { bufferedWriter } from '../output/history/history-writer.ts';
import { Lines } from '../output/lines.ts';

export interface HistoryCommandOptions {
  readonly since?: string;
  readonly json?: boolean;
  readonly csv?: boolean;
}

/** Gives the exit code. Throws usage, and what keeps the journal from being read. */
export async function history(options: HistoryCommandOptions, io: Io): Promise<number> {
  const { json = false, csv = false } = options;
  const since = readMonth(options.since);
  const form: HistoryForm = csv ? historyCsv : json ? historyJson : historyText;
  const journal = await composeJournalReading(io.env);
  const writer = bufferedWriter(io.stdout);
  const sums: Sums = new Map();
  let count = 0;
  for await (const entry of journal.history()) {
    if (entry.at < since) continue;
    addToSums(sums, entry);
    await writer.write(count === 0 ? form.head + form.first(entry) : form.next(entry));
    count += 1;
    // Whoever reads may have seen enough (`| head`).
    if (!io.stdout.writable) return 0;
  }
  await writer.write(count === 0 ? form.empty : form.tail(sumsInOrder(sums)));
  await writer.end();
  const lines = new Lines(io, { quiet: false, verbose: false, json: true });
  for (const warning of journal.warnings) lines.warning(warning);
  return 0;
}

/** Times in the journal begin with their month. */
function readMonth(since: string | undefined): string {
  if (since === undefined || /^\d{4}-(0[1-9]|1[0-2])$/.test(since)) return since ?? '';
  throw cliErrors('invalid-usage', {
    message: `--since: "${since}" is not a month such as 2026-11`,
    help: 'codesign-remote history --help',
  });
}
