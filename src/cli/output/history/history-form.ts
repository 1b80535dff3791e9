/** A form in which the history is written, piece by piece: types only. */

import type { HistoryEntry } from '../../../journal/journal.ts';
import type { Sum } from './history-sums.ts';

export interface HistoryForm {
  readonly head: string;
  first(entry: HistoryEntry): string;
  /** Every entry but the first. */
  next(entry: HistoryEntry): string;
  tail(sums: readonly Sum[]): string;
  /** The whole of a history without entries. */
  readonly empty: string;
}
