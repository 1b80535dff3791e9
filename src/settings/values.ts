/** Values as they were given, with where they came from, so that a message can name the option or variable that is wrong. */

import { DIGEST_ALGORITHMS, type DigestAlgorithm } from '../crypto/algorithms.ts';
import { settingsErrors } from './errors.ts';
import type { Environment } from './options.ts';

export interface Given {
  readonly value: string;
  readonly name: string;
}

export function given(value: string | undefined, name: string): Given | undefined {
  return value === undefined ? undefined : { value, name };
}

export function either(
  option: string | number | undefined,
  optionName: string,
  env: Environment,
  variable: string,
): Given | undefined {
  return given(option?.toString(), optionName) ?? given(env[variable] || undefined, variable);
}

export function nonEmpty(value: string | undefined, name: string): string | undefined {
  if (value === '') throw settingsErrors('invalid-setting', { name, value, expected: 'some text' });
  return value;
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
export function readConcurrency(option: string | number | undefined, env: Environment): number {
  const given = either(option, '--concurrency', env, 'CODESIGN_CONCURRENCY');
  return readNumber(given, 4, { whole: true, from: 1, to: 256 });
}

/** Of one attempt of one call, given in seconds; in milliseconds. */
export function readTimeout(option: string | number | undefined, env: Environment): number {
  const given = either(option, '--timeout', env, 'CODESIGN_TIMEOUT');
  return 1000 * readNumber(given, 30, { whole: false, from: 0.1, to: 3600 });
}

export function refuse({ name, value }: Given, expected: string): never {
  throw settingsErrors('invalid-setting', { name, value, expected });
}
