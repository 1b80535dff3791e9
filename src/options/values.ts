/** Values as they were given, with where they came from, so that a message can name the option, variable or file that is wrong. */

import { DIGEST_ALGORITHMS, type DigestAlgorithm } from '../crypto/algorithms.ts';
import { settingsErrors } from './errors.ts';

export const EXTRA_POLICIES = ['all', 'anonymous', 'none'] as const;
export const FILENAME_MASKS = ['none', 'basename', 'hash', 'omit'] as const;

export const REPORT_FAILURES = ['pending', 'now'] as const;

export type ExtraPolicy = (typeof EXTRA_POLICIES)[number];
export type FilenameMask = (typeof FILENAME_MASKS)[number];
/** When a file that failed is reported although another run can still write it: once it is given up, or at once. */
export type ReportFailures = (typeof REPORT_FAILURES)[number];

export interface Given {
  readonly value: string;
  readonly name: string;
}

export function given(value: string | undefined, name: string): Given | undefined {
  return value === undefined ? undefined : { value, name };
}

export function readText(from: Given): string {
  return from.value === '' ? refuse(from, 'some text') : from.value;
}

export function readAlgorithm(from: Given | undefined, otherwise: DigestAlgorithm): DigestAlgorithm {
  if (from === undefined) return otherwise;
  // As Java writes them, too: SHA-256.
  const wanted = from.value.toUpperCase().replace(/^SHA-/, 'SHA');
  const found = DIGEST_ALGORITHMS.find((algorithm) => algorithm === wanted);
  return found ?? refuse(from, `one of ${DIGEST_ALGORITHMS.join(', ')}`);
}

export function readWord<const Word extends string>(
  from: Given | undefined,
  words: readonly Word[],
  otherwise: Word,
): Word {
  if (from === undefined) return otherwise;
  return words.find((word) => word === from.value) ?? refuse(from, `one of ${words.join(', ')}`);
}

export function readNumber(
  from: Given | undefined,
  otherwise: number,
  { whole, from: least, to }: { whole: boolean; from: number; to: number },
): number {
  if (from === undefined) return otherwise;
  const number = /^\d+(\.\d+)?$/.test(from.value) ? Number(from.value) : Number.NaN;
  if (number >= least && number <= to && (!whole || Number.isInteger(number))) return number;
  return refuse(from, `a ${whole ? 'whole ' : ''}number from ${least} to ${to}`);
}

/** Calls under way at once. */
export function readConcurrency(from: Given | undefined): number {
  return readNumber(from, 4, { whole: true, from: 1, to: 256 });
}

/** Of one attempt of one call, given in seconds; in milliseconds. */
export function readTimeout(from: Given | undefined): number {
  return 1000 * readNumber(from, 30, { whole: false, from: 0.1, to: 3600 });
}

/** That the history is kept at least. */
export function readHistoryDays(from: Given | undefined): number {
  return readNumber(from, 90, { whole: true, from: 1, to: 36_500 });
}

/** That a run may ask for; undefined for no limit. */
export function readMaxSignatures(from: Given | undefined): number | undefined {
  return from && readNumber(from, 0, { whole: true, from: 0, to: 1_000_000 });
}

/** Of one month; undefined for no limit. */
export function readMonthlyBudget(from: Given | undefined): number | undefined {
  return from && readNumber(from, 0, { whole: true, from: 0, to: 1_000_000_000 });
}

/** The program's web page is shown to users of the signed file: only http and https make sense there. */
export function readWebPage(from: Given): string {
  const parsed = URL.canParse(from.value) ? new URL(from.value) : undefined;
  if (parsed?.protocol === 'https:' || parsed?.protocol === 'http:') return from.value;
  return refuse(from, 'a web address such as https://example.com/app');
}

export function refuse({ name, value }: Given, expected: string): never {
  throw settingsErrors('invalid-setting', { name, value, expected });
}
