/** Reading values as they were typed. A value comes with the name of its option, variable or file, for messages. */

import { DIGEST_ALGORITHMS, type DigestAlgorithm } from '../crypto/algorithms.ts';
import { settingsErrors } from './errors.ts';

export interface Given {
  readonly value: string;
  /** `--code`, `CODESIGN_CODE`, `code in profile work`. */
  readonly name: string;
}

/** X.660: below the roots 0 and 1 there are 40 arcs; a larger number would be encoded as another object identifier. */
const OBJECT_IDENTIFIER = /^([01]\.[1-3]?\d|2\.(0|[1-9]\d{0,9}))(\.(0|[1-9]\d{0,9})){0,29}$/;

export function readText(from: Given): string {
  return from.value === '' ? refuse(from, 'some text') : from.value;
}

/** In any case, and also as Java writes the names: SHA-256. */
export function readAlgorithm(from: Given): DigestAlgorithm {
  const wanted = from.value.toUpperCase().replace(/^SHA-/, 'SHA');
  return readWord({ ...from, value: wanted }, DIGEST_ALGORITHMS, from);
}

/** `shown`: the value as it was typed, for the message. */
export function readWord<const Word extends string>(from: Given, words: readonly Word[], shown = from): Word {
  return words.find((word) => word === from.value) ?? refuse(shown, `one of ${words.join(', ')}`);
}

export interface NumberRange {
  readonly isWhole: boolean;
  readonly from: number;
  readonly to: number;
}

export function readNumber(given: Given, { isWhole, from, to }: NumberRange): number {
  const number = /^\d+(\.\d+)?$/.test(given.value) ? Number(given.value) : Number.NaN;
  if (number >= from && number <= to && (!isWhole || Number.isInteger(number))) return number;
  return refuse(given, `a ${isWhole ? 'whole ' : ''}number from ${from} to ${to}`);
}

export function readObjectIdentifier(from: Given): string {
  return OBJECT_IDENTIFIER.test(from.value)
    ? from.value
    : refuse(from, 'an object identifier, such as 1.3.6.1.4.1.99999.1');
}

/** Throws `invalid-setting`. */
export function refuse({ name, value }: Given, expected: string): never {
  throw settingsErrors('invalid-setting', { name, value, expected });
}
