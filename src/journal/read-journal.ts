/** The journal for who only reads it: nothing is made, changed or removed, and nothing has to be there. */

import { openDisk } from './disk.ts';
import type { Journal } from './journal.ts';
import { type JournalOptions, makeParts, warningList } from './make-parts.ts';
import { noUnendedRuns } from './unended-runs.ts';
import { unfinishedCalls } from './unfinished-calls.ts';

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
