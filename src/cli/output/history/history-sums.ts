/** How many calls were made, and counted, by month and certificate. */

import type { HistoryEntry } from '../../../journal/journal.ts';

export interface Sum {
  /** Such as 2026-11, of universal time. */
  readonly month: string;
  readonly certificate: { readonly name: string; readonly sha256: string };
  readonly calls: number;
  readonly counted: number;
  /** May have been counted. */
  readonly unknown: number;
  /** Files that were written. */
  readonly files: number;
}

/** By month and certificate: few, however many calls there are. */
export type Sums = Map<string, Sum>;

export function addToSums(sums: Sums, { at, certificate, counted, filesWritten }: HistoryEntry): void {
  const month = at.slice(0, 7);
  const key = `${month} ${certificate.sha256}`;
  const before = sums.get(key) ?? { month, certificate, calls: 0, counted: 0, unknown: 0, files: 0 };
  sums.set(key, {
    ...before,
    calls: before.calls + 1,
    counted: before.counted + (counted === 'yes' ? 1 : 0),
    unknown: before.unknown + (counted === 'unknown' ? 1 : 0),
    files: before.files + filesWritten,
  });
}

export function sumsInOrder(sums: Sums): readonly Sum[] {
  const ordered = [...sums.entries()].sort(([one], [other]) => (one < other ? -1 : 1));
  return ordered.map(([, sum]) => sum);
}
