/** The history as a table for people: columns of fixed width, since it is written while it is read. */

import type { HistoryEntry } from '../../../journal/journal.ts';
import { shown } from '../inspect/shown.ts';
import { widthOf } from '../terminal-width.ts';
import type { HistoryForm } from './history-form.ts';
import type { Sum } from './history-sums.ts';

const NAME_COLUMNS = 24;
const RECORD_COLUMNS = 36;

export const historyText: HistoryForm = {
  head: row({
    when: 'when (UTC)',
    outcome: 'outcome',
    counted: 'counted',
    reported: 'reported',
    certificate: 'certificate',
    record: 'record',
    file: 'file',
  }),
  first: line,
  next: line,
  tail: (sums) => ['', sumsHead(), ...sums.map(sumLine), ''].join('\n'),
  empty: 'no calls yet\n',
};

type Cells = Readonly<Record<'when' | 'outcome' | 'counted' | 'reported' | 'certificate' | 'record' | 'file', string>>;

function row({ when, outcome, counted, reported, certificate, record, file }: Cells): string {
  const cells = [
    when.padEnd(19),
    outcome.padEnd(10),
    counted.padEnd(7),
    reported.padEnd(8),
    cell(certificate, NAME_COLUMNS),
    padded(record, RECORD_COLUMNS),
    file,
  ];
  return `${cells.join('  ')}\n`;
}

function line({ at, outcome, counted, reported, certificate, record, file }: HistoryEntry): string {
  return row({
    when: at.slice(0, 19).replace('T', ' '),
    outcome,
    counted,
    reported: REPORTED[reported ?? 0],
    certificate: shown(certificate.name),
    record: record === undefined ? '-' : shown(record),
    file: shown(file),
  });
}

const REPORTED = { 0: '-', 1: 'written', 2: 'failed' } as const;

function sumsHead(): string {
  return sumRow('month', 'certificate', ['calls', 'counted', 'unknown', 'files']);
}

function sumLine({ month, certificate, calls, counted, unknown, files }: Sum): string {
  return sumRow(month, shown(certificate.name), [calls, counted, unknown, files].map(String));
}

function sumRow(month: string, certificate: string, numbers: readonly string[]): string {
  return [month.padEnd(7), cell(certificate, NAME_COLUMNS), ...numbers.map((number) => number.padStart(9))].join('  ');
}

/** Of just so many columns: what is longer is cut. */
function cell(text: string, columns: number): string {
  if (widthOf(text) <= columns) return padded(text, columns);
  let kept = '';
  for (const character of text) {
    if (widthOf(kept + character) > columns - 1) break;
    kept += character;
  }
  return padded(`${kept}…`, columns);
}

function padded(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - widthOf(text)));
}
