/** Values of the administration's options: all text, checked here. */

import { DIGEST_ALGORITHMS, type DigestAlgorithm } from '../../../src/crypto/algorithms.ts';
import { serverError } from '../errors.ts';

/** What the database's integers hold, and no one will ever sign. */
const LARGEST_QUOTA = 2_000_000_000;

/** @throws `invalid-option`, as all of these */
export function checked(option: string, value: string, pattern: RegExp, expected: string): string {
  if (!pattern.test(value)) throw serverError('invalid-option', { option, value, expected });
  return value;
}

/** What people call a client or a viewer. */
export function readName(option: string, value: string): string {
  return checked(option, value, /^[^\p{Cc}]{1,64}$/u, 'a name of 1 to 64 characters');
}

/** `none`: no bound. */
export function readQuota(option: string, value: string): number | undefined {
  if (value === 'none') return undefined;
  const quota = Number(value);
  if (!/^\d+$/.test(value) || quota > LARGEST_QUOTA) {
    throw serverError('invalid-option', { option, value, expected: `a number up to ${LARGEST_QUOTA}, or none` });
  }
  return quota;
}

export function readAlgorithm(value: string): DigestAlgorithm {
  const algorithm = DIGEST_ALGORITHMS.find((known) => known === value);
  if (algorithm === undefined) {
    const expected = `one of ${DIGEST_ALGORITHMS.join(', ')}`;
    throw serverError('invalid-option', { option: '--algorithm', value, expected });
  }
  return algorithm;
}

/** A day begins at midnight UTC. */
export function readTime(option: string, value: string): Date {
  const time = new Date(value);
  const written = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/.test(value);
  if (!written || Number.isNaN(time.getTime()) || !isDay(value.slice(0, 10))) {
    const expected = 'a day or a time as in 2030-12-31 or 2030-12-31T18:00:00Z';
    throw serverError('invalid-option', { option, value, expected });
  }
  return time;
}

/** JavaScript takes February 31 for March 3: a command would remove records of days that were not meant. */
function isDay(day: string): boolean {
  return new Date(day).toISOString().startsWith(day);
}

/** Text from outside on a terminal: what would steer it, or turn its writing round, is written out. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
  });
}

/** What JSON leaves as it is, but a terminal does not, is written out. */
export function json(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(/[^\n\P{Cc}]|[\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    [...Array(character.length).keys()]
      .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}
