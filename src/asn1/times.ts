/** Times in certificates and signatures are in UTC and include seconds (RFC 5280, section 4.1.2.5). */

import { asn1Errors } from './errors.ts';
import type { Element } from './read.ts';
import { encode } from './write.ts';

export function readTime({ tag, contents, offset }: Element, what: string): Date {
  const text = Buffer.from(contents).toString('latin1');
  const digits = tag === 0x17 ? withCentury(text) : tag === 0x18 ? text : '';
  const [, ...fields] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(digits) ?? [];
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = fields.map(Number);
  const time = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
  // `Date` would read February 31 as a day in March.
  if (fields.length === 0 || time.getUTCDate() !== day || time.getUTCMonth() !== month - 1) {
    throw asn1Errors('asn1-malformed', { what, problem: 'not a time', offset });
  }
  return time;
}

/** CMS requires two-digit years up to 2049 (RFC 5652, section 11.3). */
export function encodeTime(time: Date): Uint8Array {
  const digits = secondOf(time).replace(/[-:T]/g, '');
  return time.getUTCFullYear() < 2050 ? encode(0x17, Buffer.from(digits.slice(2))) : encode(0x18, Buffer.from(digits));
}

function withCentury(text: string): string {
  return `${Number(text.slice(0, 2)) < 50 ? '20' : '19'}${text}`;
}

export function secondOf(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}
