/** Values of attributes in words, as far as they are short: ASN.1 of any shape, object identifiers by name. */

import { type Element, objectIdentifierOf, parts } from '../asn1/read.ts';
import { CodesignError } from '../errors/codesign-error.ts';
import { objectName } from './object-names.ts';

/** Of an encoding that is put in words; what is longer is no line for people. */
const LONGEST_VALUE = 1024;
/** Honest values have up to about 5. */
const MAX_DEPTH = 12;
const MAX_DECIMAL_OCTETS = 6;

/** undefined for what is too long, or cannot be read. Raw: may hold control characters. */
export function describeValue(element: Element): string | undefined {
  if (element.bytes.length > LONGEST_VALUE) return undefined;
  return readable(() => describe(element, 0));
}

/** What `read` gives; undefined when it finds the data malformed. */
export function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof CodesignError && thrown.code === 'asn1-malformed') return undefined;
    throw thrown;
  }
}

function describe(element: Element, depth: number): string {
  const { tag, contents } = element;
  switch (tag) {
    case 0x01:
      return contents[0] === 0 ? 'no' : 'yes';
    case 0x02:
    case 0x0a:
      return describeInteger(contents);
    case 0x05:
      return '';
    case 0x06:
      return nameOrDotted(objectIdentifierOf(element, 'value'));
    case 0x17:
      return describeTime(contents, 2);
    case 0x18:
      return describeTime(contents, 4);
    default:
  }
  const text = textOf(tag, contents);
  if (text !== undefined) return text;
  if ((tag & 0x20) === 0 || depth === MAX_DEPTH) return hexOf(contents);
  const described = parts(element, 'value').map((part) => describe(part, depth + 1));
  const told = described.filter((part) => part !== '');
  const [only] = told;
  // An algorithm without parameters, a SET of one: brackets would tell nothing.
  if (only !== undefined && told.length === 1) return only;
  return depth === 0 ? told.join(', ') : `(${told.join(', ')})`;
}

export function nameOrDotted(oid: string): string {
  return objectName(oid) ?? oid;
}

export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}

/** The string types of X.680; undefined for other tags. */
export function textOf(tag: number, contents: Uint8Array): string | undefined {
  const bytes = Buffer.from(contents);
  switch (tag) {
    case 0x0c: // UTF8String
      return bytes.toString('utf8');
    case 0x12: // NumericString
    case 0x13: // PrintableString
    case 0x14: // TeletexString
    case 0x16: // IA5String
    case 0x1a: // VisibleString
      return bytes.toString('latin1');
    case 0x1e: // BMPString
      return bytes.length % 2 === 0 ? bytes.swap16().toString('utf16le') : undefined;
    default:
      return undefined;
  }
}

function describeInteger(contents: Uint8Array): string {
  if (contents.length === 0 || contents.length > MAX_DECIMAL_OCTETS) return hexOf(contents);
  return String(Buffer.from(contents).readIntBE(0, contents.length));
}

/** UTCTime, whose years have two digits and end with 2049, or GeneralizedTime; in another form as it stands. */
function describeTime(contents: Uint8Array, yearDigits: 2 | 4): string {
  const text = Buffer.from(contents).toString('latin1');
  const year = text.slice(0, yearDigits);
  const rest = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?(?:\.\d+)?Z$/.exec(text.slice(yearDigits));
  if (!/^\d+$/.test(year) || rest === null) return text;
  const [, month, day, hour, minute, second = '00'] = rest;
  const century = yearDigits === 4 ? '' : Number(year) < 50 ? '20' : '19';
  return `${century}${year}-${month}-${day}T${hour}:${minute}:${second}Z`;
}
