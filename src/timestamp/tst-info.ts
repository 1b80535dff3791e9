import { algorithmOf, type Element, expectTag, fieldsOf, objectIdentifierOf, octetsOf, readDer } from '../asn1/read.ts';
import { readExtensions } from '../certificates/certificate.ts';
import { timestampErrors } from './errors.ts';

const VERSION = 1;
/** RFC 3161 requires support for 160 bits. */
const LONGEST_INTEGER = 64;

export type TstInfo = ReturnType<typeof readTstInfo>;

export function readTstInfo(der: Uint8Array) {
  const what = 'TSTInfo';
  const outer = readDer(der, what);
  if (outer.bytes.length !== der.length) throw malformed('bytes follow the TSTInfo');
  const fields = fieldsOf(outer, 0x30, what);
  const version = fields.next(0x02, 'version').contents;
  if (version.length !== 1 || version[0] !== VERSION) throw malformed('the TSTInfo has an unknown version');
  const policy = objectIdentifierOf(fields.next(0x06, 'policy'), 'policy');
  const imprint = fieldsOf(fields.next(0x30, 'messageImprint'), 0x30, 'messageImprint');
  const algorithm = algorithmOf(imprint.next(0x30, 'algorithm'), 'messageImprint');
  const digest = octetsOf(imprint.next(0x04, 'digest'), 'messageImprint');
  imprint.end();
  const serialNumber = integer(fields.next(0x02, 'serialNumber').contents, 'serial number');
  const time = readGenerationTime(fields.any('genTime'));
  fields.optional(0x30); // accuracy
  fields.optional(0x01); // ordering
  const nonce = fields.optional(0x02);
  fields.optional(0xa0); // tsa, which is only a hint
  const extensions = fields.optional(0xa1);
  fields.end();
  // A critical extension could change the meaning of a token.
  const critical = readExtensions(extensions, 'extension').find(({ isCritical }) => isCritical);
  if (critical) throw malformed(`it has the critical extension ${critical.type}, which is not supported`);
  return {
    policy,
    imprint: { algorithm, digest },
    serialNumber,
    time,
    nonce: nonce && integer(nonce.contents, 'nonce'),
  };
}

function integer(contents: Uint8Array, what: string): Uint8Array {
  if (contents.length === 0 || contents.length > LONGEST_INTEGER) throw malformed(`its ${what} is not a number`);
  return contents;
}

function malformed(problem: string) {
  return timestampErrors('timestamp-malformed', { problem });
}

const GENERALIZED_TIME_TAG = 0x18;
/** Digits after the milliseconds are ignored. */
const PATTERN = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:\.(\d{1,30}))?Z$/;
const LONGEST = 64;

export function readGenerationTime(element: Element): Date {
  const { contents } = expectTag(element, GENERALIZED_TIME_TAG, 'genTime');
  const match = PATTERN.exec(contents.length > LONGEST ? '' : Buffer.from(contents).toString('latin1'));
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = (match ?? []).slice(1, 7).map(Number);
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second, Number((match?.[7] ?? '').slice(0, 3).padEnd(3, '0')));
  // `Date` converts February 31, 24:00 or a leap second to a valid time.
  const digits = date.toISOString().replace(/\D/g, '').slice(0, 14);
  if (match === null || digits !== match.slice(1, 7).join('')) {
    throw timestampErrors('timestamp-malformed', { problem: 'its genTime is not a time' });
  }
  return date;
}
