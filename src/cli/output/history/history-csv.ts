/** The history for spreadsheets (RFC 4180), with nothing in it that a spreadsheet would compute or a terminal act on. */

import type { HistoryEntry } from '../../../journal/journal.ts';
import { shown } from '../inspect/shown.ts';
import type { HistoryForm } from './history-form.ts';

const COLUMNS: readonly (readonly [head: string, cellOf: (entry: HistoryEntry) => string | number | undefined])[] = [
  ['asked', ({ at }) => at],
  ['ended', ({ ended }) => ended],
  ['id', ({ id }) => id],
  ['file', ({ file }) => file],
  ['bytes', ({ bytes }) => bytes],
  ['files_written', ({ filesWritten }) => filesWritten],
  ['certificate', ({ certificate }) => certificate.name],
  ['certificate_sha256', ({ certificate }) => certificate.sha256],
  ['origin', ({ origin }) => origin],
  ['code', ({ code }) => code],
  ['algorithm', ({ algorithm }) => algorithm],
  ['record', ({ record }) => record],
  ['outcome', ({ outcome }) => outcome],
  ['counted', ({ counted }) => counted],
  ['reported', ({ reported }) => reported],
  ['reason', ({ reason }) => reason],
];
const HEAD = csvLine(COLUMNS.map(([head]) => head));
/** What makes a spreadsheet take a cell for a formula, in its wide forms too; blanks before it do not always help. */
const FORMULA = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/u;

export const historyCsv: HistoryForm = {
  head: HEAD,
  first: line,
  next: line,
  tail: () => '',
  empty: HEAD,
};

function line(entry: HistoryEntry): string {
  return csvLine(COLUMNS.map(([, cellOf]) => csvCell(cellOf(entry))));
}

function csvLine(cells: readonly string[]): string {
  return `${cells.join(',')}\r\n`;
}

function csvCell(value: string | number | undefined): string {
  if (typeof value !== 'string') return value === undefined ? '' : `${value}`;
  const harmless = `${FORMULA.test(value) ? "'" : ''}${shown(value)}`;
  return /[",]|^\s|\s$/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
