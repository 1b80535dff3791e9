/** The forms in which `history` is written, entry by entry: a table for people, and a JSON document. */

import type { HistoryEntry } from '../../journal/journal.ts';
import { jsonText } from './json.ts';
import { shown } from './lines.ts';
import { fitted, padded } from './text-layout.ts';

export interface HistoryForm {
  readonly head: string;
  entry(entry: HistoryEntry): string;
  /** Between two entries. */
  readonly between: string;
  tail(sums: readonly Sum[]): string;
  /** All output for a history without entries. */
  readonly empty: string;
}

export interface Sum {
  /** In UTC, for example 2026-11. */
  readonly month: string;
  readonly certificate: { readonly name: string; readonly sha256: string };
  readonly calls: number;
  readonly counted: number;
  /** Calls that may have been counted. */
  readonly unknown: number;
  /** Files written. */
  readonly files: number;
}

/** By month and certificate, so their number does not grow with the calls. */
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

// The table. Its columns have fixed widths, because it is written while the journal is read.

const NAME_COLUMNS = 24;
const REPORTED = { 0: '-', 1: 'written', 2: 'failed' } as const;

const COLUMNS_OF_TABLE: readonly (readonly [head: string, width: number])[] = [
  ['when (UTC)', 19],
  ['outcome', 10],
  ['counted', 7],
  ['reported', 8],
  ['service', NAME_COLUMNS],
  ['number', 8],
  ['certificate', NAME_COLUMNS],
  ['record', 36],
  ['file', 0],
];

export const historyTable: HistoryForm = {
  head: tableRow(COLUMNS_OF_TABLE.map(([head]) => head)),
  entry: tableLine,
  between: '',
  tail: (sums) =>
    `\n${sumRow('month', 'certificate', ['calls', 'counted', 'unknown', 'files'])}\n${sums.map(sumLine).join('')}`,
  empty: 'no calls yet\n',
};

function tableRow(cells: readonly string[]): string {
  return `${COLUMNS_OF_TABLE.map(([, width], index) => padded(cells[index] ?? '', width)).join('  ')}\n`;
}

function tableLine({ at, outcome, counted, reported, origin, code, certificate, record, file }: HistoryEntry): string {
  const when = at.slice(0, 19).replace('T', ' ');
  const account = [nameCell(shown(origin.replace(/^https?:\/\//, ''))), shown(code), nameCell(shown(certificate.name))];
  const last = [record === undefined ? '-' : shown(record), shown(file)];
  return tableRow([when, outcome, counted, REPORTED[reported ?? 0], ...account, ...last]);
}

function sumLine({ month, certificate, calls, counted, unknown, files }: Sum): string {
  return `${sumRow(month, shown(certificate.name), [calls, counted, unknown, files].map(String))}\n`;
}

function sumRow(month: string, certificate: string, numbers: readonly string[]): string {
  return [month.padEnd(7), nameCell(certificate), ...numbers.map((number) => number.padStart(9))].join('  ');
}

function nameCell(name: string): string {
  return padded(fitted(name, NAME_COLUMNS, '…'), NAME_COLUMNS);
}

// The JSON document. Its members are fixed, scripts read them.

export const historyJson: HistoryForm = {
  head: '{\n  "calls": [\n',
  entry: (entry) => indented(entryJson(entry)),
  between: ',\n',
  tail: (sums) => `\n  ],\n  "sums": [\n${sums.map(indented).join(',\n')}\n  ]\n}\n`,
  empty: jsonText({ calls: [], sums: [] }),
};

function entryJson({ at, ended, id, digest, record, reported, reason, ...entry }: HistoryEntry) {
  // A digest is never shown whole.
  const masked = `${digest.slice(0, 4)}…${digest.slice(-4)}`;
  const ending = { record: record ?? null, reported: reported ?? null, reason: reason ?? null };
  return { id, at, ended: ended ?? null, ...entry, digest: masked, ...ending };
}

function indented(value: object): string {
  return jsonText(value).trimEnd().replace(/^/gm, '    ');
}
