/** All rows of the fault matrix, and the cases that they stand for. */

import { fileRows } from './file-rows.ts';
import { clockRows, journalRows } from './journal-rows.ts';
import { networkRows } from './network-rows.ts';
import type { Row } from './row.ts';
import { FORMATS, type FormatId, FURTHER_FORMATS } from './stage.ts';

export interface Case {
  readonly row: Row;
  /** One of the row's variants. */
  readonly effect: string;
  readonly format: FormatId;
}

export const ROWS: readonly Row[] = [...fileRows, ...networkRows, ...journalRows, ...clockRows];

export function casesOf(row: Row): readonly Case[] {
  return row.formats.flatMap((format) => Object.keys(row.variants).map((effect) => ({ row, effect, format })));
}

/** A row that holds for all formats is tried with the further ones too: once, since what differs is how much is written where. */
export function furtherCasesOf(row: Row): readonly Case[] {
  const [effect] = Object.keys(row.variants);
  if (row.formats !== FORMATS || row.disk !== undefined || effect === undefined) return [];
  return FURTHER_FORMATS.filter((format) => !row.without?.includes(format)).map((format) => ({ row, effect, format }));
}

export function nameOf({ row, effect, format }: Case): string {
  return [row.step, row.fault, effect, format].filter((word) => word !== '-').join(', ');
}
