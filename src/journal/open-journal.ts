/** Opens the journal: its folder made or judged, what is old removed, and what it can do put together. */

import type { Journal } from './journal.ts';
import type { Processes } from './processes.ts';

export interface JournalOptions {
  /** The state folder; the journal's own folders are in it. */
  readonly folder: string;
  readonly now: () => Date;
  /** Milliseconds on a clock that never goes back and that all processes share until the machine is started again. */
  readonly uptime: () => number;
  /** 8 to 64 characters of a-z, 0-9: never the same twice. */
  readonly randomId: () => string;
  readonly processes: Processes;
  /** Days that the history is kept, at least. */
  readonly keepDays: number;
}

export const DEFAULT_KEEP_DAYS = 90;

/** Throws `journal-unusable` or `journal-full`. Reads nothing of the history. */
export async function openJournal(_options: JournalOptions): Promise<Journal> {
  throw new Error('not there yet');
}
