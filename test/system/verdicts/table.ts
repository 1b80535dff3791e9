/** The table of verdicts (README.md) as data: what `verify` must say of each file, and what the others say. */

import { readFileSync } from 'node:fs';
import { cellsOf } from '../../documentation/command-blocks.ts';

export const OTHERS = ['osslsigncode', 'sigcheck', 'Wine', 'jarsigner', 'JarCheck'] as const;
export type Other = (typeof OTHERS)[number];

/** `stampless`: accepted, while it says itself that the timestamp is none. */
export type OthersWord = 'yes' | 'no' | 'stampless';
const WORDS: readonly string[] = ['yes', 'no', 'stampless'];

export interface VerdictRow {
  /** Its group and its name in it, as in `pe-special/signed.exe`. */
  readonly file: string;
  /** What `verify --json` must give as the verdict; the code of the error where it gives none. */
  readonly right: string;
  /** The codes of all findings that speak against integrity or trust, in the alphabet's order. */
  readonly findings: readonly string[];
  /** Those that can check such a file. */
  readonly others: ReadonlyMap<Other, OthersWord>;
  /** Empty where all agree. */
  readonly why: string;
}

/** Of a file that only `verify` is asked about. */
const SHORT = 3;
const WHOLE = SHORT + OTHERS.length + 1;

/** The rows of all tables of the file. Throws when one is not as the tables' heads say. */
export function readVerdicts(): readonly VerdictRow[] {
  const text = readFileSync(new URL('README.md', import.meta.url), 'utf8');
  return text.split('\n').flatMap((line) => (/^\| \S+\/\S+ \|/.test(line) ? [readRow(line)] : []));
}

function readRow(row: string): VerdictRow {
  const cells = cellsOf(row);
  if (cells.length !== SHORT && cells.length !== WHOLE) throw new Error(`a row of ${cells.length} cells: ${row}`);
  const [file = '', right = '', findings = ''] = cells;
  const words = OTHERS.map((other, index) => [other, cells[SHORT + index] ?? ''] as const);
  return {
    file,
    right,
    findings: findings.split(' ').filter((code) => code !== ''),
    others: new Map(words.flatMap(([other, word]) => (word === '' ? [] : [[other, asWord(word, row)]]))),
    why: cells[WHOLE - 1] ?? '',
  };
}

export function verdictText(row: Pick<VerdictRow, 'right' | 'findings'> | undefined): string {
  return row === undefined ? '' : [row.right, ...row.findings].join(' ');
}

/** Which of the others do not come to what is right. */
export function disagreeing({ right, others }: VerdictRow): Other[] {
  const wanted: OthersWord = right === 'trusted' ? 'yes' : 'no';
  return [...others].filter(([, word]) => word !== wanted).map(([other]) => other);
}

function asWord(word: string, row: string): OthersWord {
  if (!WORDS.includes(word)) throw new Error(`"${word}" is none of ${WORDS.join(', ')}: ${row}`);
  return word as OthersWord;
}
