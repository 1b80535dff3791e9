/** Times as timestamps hold them: GeneralizedTime and UTCTime (X.680 46 and 47), always in UTC and with seconds. */

import type { Element } from '../asn1/read.ts';
import { timestampErrors } from './errors.ts';

const GENERALIZED_TIME_TAG = 0x18;
const UTC_TIME_TAG = 0x17;
/** RFC 3161, 2.4.2: with as many digits of a second as wanted; what is finer than milliseconds is dropped. */
const GENERALIZED_TIME = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:\.(\d{1,30}))?Z$/;
const UTC_TIME = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/;
const LONGEST = 64;
/** RFC 5652, 11.3: two digits of a year are of 1950 to 2049. */
const FIRST_OF_LAST_CENTURY = 50;

/** Reads a GeneralizedTime. Throws `timestamp-malformed`. */
export function readGeneralizedTime(element: Element, what: string): Date {
  const match = element.tag === GENERALIZED_TIME_TAG ? GENERALIZED_TIME.exec(textOf(element)) : null;
  if (match === null) throw timestampErrors('timestamp-malformed', { problem: `${what} is not a time` });
  const [, year, month, day, hour, minute, second, fraction = ''] = match;
  const milliseconds = Number(fraction.slice(0, 3).padEnd(3, '0'));
  return dateOf([year, month, day, hour, minute, second].map(Number), milliseconds, what);
}

/** Reads a Time, which is either type. Throws `timestamp-malformed`. */
export function readTime(element: Element, what: string): Date {
  if (element.tag !== UTC_TIME_TAG) return readGeneralizedTime(element, what);
  const match = UTC_TIME.exec(textOf(element));
  if (match === null) throw timestampErrors('timestamp-malformed', { problem: `${what} is not a time` });
  const [shortYear = 0, ...rest] = match.slice(1).map(Number);
  return dateOf([shortYear + (shortYear >= FIRST_OF_LAST_CENTURY ? 1900 : 2000), ...rest], 0, what);
}

function textOf({ contents }: Element): string {
  return contents.length > LONGEST ? '' : Buffer.from(contents).toString('latin1');
}

/** Refuses what `Date` would carry over: the 31st of February, 24:00, a leap second. */
function dateOf(fields: readonly number[], milliseconds: number, what: string): Date {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = fields;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second, milliseconds);
  const written = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()];
  const clock = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()];
  if ([...written, ...clock].join() !== [year, month, day, hour, minute, second].join()) {
    throw timestampErrors('timestamp-malformed', { problem: `${what} is not a time that exists` });
  }
  return date;
}
