/** The journal for who only reads it: nothing is made, changed or removed, and nothing has to be there. */

import { unfinishedCalls } from './calls/unfinished-calls.ts';
import { openDisk } from './disk.ts';
import { noUnendedRuns } from './history/unended-runs.ts';
import type { Journal } from './journal.ts';
import { type JournalOptions, makeParts, warningList } from './make-parts.ts';

export type JournalReading = Pick<Journal, 'unfinished' | 'history' | 'warnings'>;

/** A folder that is not there is a journal without calls. */
export function readJournal(options: JournalOptions): JournalReading {
  const { warnings, warn } = warningList();
  const run = options.randomId();
  const parts = makeParts(options, {
    disk: openDisk(options.folder),
    warn,
    run,
    unended: noUnendedRuns,
    isReadOnly: true,
  });
  const { unfinished, history } = unfinishedCalls(parts);
  return { warnings, unfinished: () => parts.guard(unfinished), history };
}
