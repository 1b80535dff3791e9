/** All rows of the fault matrix, and the cases that they stand for. */

import { fileRows } from './file-rows.ts';
import { clockRows, journalRows } from './journal-rows.ts';
import { networkRows } from './network-rows.ts';
import type { Row } from './row.ts';
import type { FormatId } from './stage.ts';

export interface Case {
  readonly row: Row;
  readonly effect: string;
  readonly format: FormatId;
}

export const ROWS: readonly Row[] = [...fileRows, ...networkRows, ...journalRows, ...clockRows];

/** All variants with the first format; the first variant with the others, in which the same call fails. */
export function casesOf(row: Row): readonly Case[] {
  const effects = Object.keys(row.variants);
  return row.formats.flatMap((format, index) =>
    (index === 0 ? effects : effects.slice(0, 1)).map((effect) => ({ row, effect, format })),
  );
}

export function nameOf({ row, effect, format }: Case): string {
  return [row.step, row.fault, effect, format].filter((word) => word !== '-').join(', ');
}
