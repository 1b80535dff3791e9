/** genTime of a timestamp token (RFC 3161, 2.4.2): a GeneralizedTime in UTC, with seconds and any digits of a second. */

import { type Element, expectTag } from '../asn1/read.ts';
import { timestampErrors } from './errors.ts';

const GENERALIZED_TIME_TAG = 0x18;
/** What is finer than milliseconds is dropped. */
const PATTERN = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:\.(\d{1,30}))?Z$/;
const LONGEST = 64;

/** Throws `asn1-malformed`, `timestamp-malformed`. */
export function readGenerationTime(element: Element): Date {
  const { contents } = expectTag(element, GENERALIZED_TIME_TAG, 'genTime');
  const match = PATTERN.exec(contents.length > LONGEST ? '' : Buffer.from(contents).toString('latin1'));
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = (match ?? []).slice(1, 7).map(Number);
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second, Number((match?.[7] ?? '').slice(0, 3).padEnd(3, '0')));
  // `Date` carries over what does not exist: the 31st of February, 24:00, a leap second.
  const digits = date.toISOString().replace(/\D/g, '').slice(0, 14);
  if (match === null || digits !== match.slice(1, 7).join('')) {
    throw timestampErrors('timestamp-malformed', { problem: 'its genTime is not a time' });
  }
  return date;
}
