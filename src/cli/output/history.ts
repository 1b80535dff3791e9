import type { HistoryEntry } from '../../journal/journal.ts';
import { jsonText } from './json.ts';
import { shown } from './lines.ts';
import { fitted, padded, widthOf } from './text-layout.ts';

export interface HistoryForm {
  readonly head: string;
  entry(entry: HistoryEntry): string;
  readonly between: string;
  tail(sums: readonly Sum[]): string;
  readonly empty: string;
}

export interface Sum {
  readonly month: string;
  readonly certificate: { readonly name: string; readonly sha256: string };
  readonly calls: number;
  readonly counted: number;
  readonly unknown: number;
  readonly files: number;
}

/** Keyed by month and certificate, so the number of sums does not grow with the number of calls. */
export type Sums = Map<string, Sum>;

export function addToSums(sums: Sums, { at, certificate, counted, repeated, filesWritten }: HistoryEntry): void {
  const month = at.slice(0, 7);
  const key = `${month} ${certificate.sha256}`;
  const before = sums.get(key) ?? { month, certificate, calls: 0, counted: 0, unknown: 0, files: 0 };
  sums.set(key, {
    ...before,
    calls: before.calls + 1,
    counted: before.counted + (counted === 'yes' ? 1 : 0),
    unknown: before.unknown + (counted === 'unknown' ? 1 : 0) + (repeated ? 1 : 0),
    files: before.files + filesWritten,
  });
}

export function sumsInOrder(sums: Sums): readonly Sum[] {
  const ordered = [...sums.entries()].sort(([one], [other]) => (one < other ? -1 : 1));
  return ordered.map(([, sum]) => sum);
}

const REPORTED = { 0: '-', 1: 'written', 2: 'failed' } as const;
const NAME_COLUMNS = 24;
const LEAST_NAME_COLUMNS = 12;
/** A name that is longer than the column is printed on a separate line. */
const FILE_COLUMNS = 20;
const GAP = '  ';

interface TableColumn {
  readonly head: string;
  readonly width: number;
  readonly isCut?: true;
  text(entry: HistoryEntry): string;
}

const TABLE: readonly TableColumn[] = [
  { head: 'when (UTC)', width: 19, text: ({ at }) => at.slice(0, 19).replace('T', ' ') },
  { head: 'outcome', width: 10, text: ({ outcome }) => outcome },
  { head: 'counted', width: 7, text: ({ counted }) => counted },
  { head: 'reported', width: 8, text: ({ reported }) => REPORTED[reported ?? 0] },
  {
    head: 'service',
    width: NAME_COLUMNS,
    isCut: true,
    text: ({ origin }) => shown(origin.replace(/^https?:\/\//, '')),
  },
  { head: 'number', width: 8, text: ({ code }) => shown(code) },
  { head: 'certificate', width: NAME_COLUMNS, isCut: true, text: ({ certificate }) => shown(certificate.name) },
  { head: 'record', width: 36, text: ({ record }) => (record === undefined ? '-' : shown(record)) },
  { head: 'file', width: 0, text: ({ file }) => shown(file) },
];

/** Columns that are omitted on a narrow terminal, in this order. */
const DROPPED = ['service', 'reported', 'record'];

/** `columns` is infinite for a pipe or a file. */
export function historyTable(columns: number): HistoryForm {
  const table = fittingTable(columns);
  const row = (cells: readonly string[]) => tableRow(cells, columns);
  const sumRow = (month: string, certificate: string, numbers: readonly string[]) =>
    row([padded(month, 7), cutCell(certificate, NAME_COLUMNS), ...numbers.map((number) => number.padStart(9))]);
  const sumLine = ({ month, certificate, calls, counted, unknown, files }: Sum) =>
    sumRow(month, shown(certificate.name), [calls, counted, unknown, files].map(String));
  const sumHead = sumRow('month', 'certificate', ['calls', 'counted', 'unknown', 'files']);
  return {
    head: row(table.map(({ head, width }) => padded(head, width))),
    entry: (entry) =>
      row(table.map(({ width, isCut, text }) => (isCut ? cutCell(text(entry), width) : padded(text(entry), width)))),
    between: '',
    tail: (sums) => `\n${sumHead}${sums.map(sumLine).join('')}`,
    empty: 'no calls\n',
  };
}

function fittingTable(columns: number): readonly TableColumn[] {
  let table = TABLE;
  const missing = () => table.reduce((sum, { width }) => sum + width + GAP.length, FILE_COLUMNS - GAP.length) - columns;
  for (const name of DROPPED) {
    if (missing() > 0) table = table.filter(({ head }) => head !== name);
  }
  const width = Math.max(LEAST_NAME_COLUMNS, NAME_COLUMNS - Math.max(0, missing()));
  return table.map((column) => (column.head === 'certificate' ? { ...column, width } : column));
}

function tableRow(cells: readonly string[], columns: number): string {
  let text = '';
  let used = 0;
  for (const cell of cells) {
    const width = widthOf(cell.trimEnd());
    if (used > 0 && used + width > columns) {
      text = `${text.trimEnd()}\n${GAP}`;
      used = GAP.length;
    }
    text += cell + GAP;
    used += widthOf(cell) + GAP.length;
  }
  return `${text.trimEnd()}\n`;
}

function cutCell(text: string, width: number): string {
  return padded(fitted(text, width, '…'), width);
}

// Scripts read this document, so names of members must not change.

export const historyJson: HistoryForm = {
  head: '{\n  "calls": [\n',
  entry: (entry) => indented(entryJson(entry)),
  between: ',\n',
  tail: (sums) => `\n  ],\n  "sums": [\n${sums.map(indented).join(',\n')}\n  ]\n}\n`,
  empty: jsonText({ calls: [], sums: [] }),
};

function entryJson({ at, ended, id, digest, sha256, record, reported, reason, ...entry }: HistoryEntry) {
  const masked = `${digest.slice(0, 4)}…${digest.slice(-4)}`;
  const ending = { sha256: sha256 ?? [], record: record ?? null, reported: reported ?? null, reason: reason ?? null };
  return { id, at, ended: ended ?? null, ...entry, digest: masked, ...ending };
}

function indented(value: object): string {
  return jsonText(value).trimEnd().replace(/^/gm, '    ');
}
