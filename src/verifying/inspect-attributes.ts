import {
  COUNTER_SIGNATURE,
  SIGNING_CERTIFICATE,
  SIGNING_CERTIFICATE_V2,
  SPC_NESTED_SIGNATURE,
  SPC_RFC3161_TIMESTAMP,
  SPC_SP_OPUS_INFO,
  TIMESTAMP_TOKEN,
} from '../asn1/object-identifiers.ts';
import { type NamedObject, namedObject, objectName } from '../asn1/object-names.ts';
import { algorithmOf, type Element, fieldsOf, objectIdentifierOf, octetsOf, parts, readElement } from '../asn1/read.ts';
import { characterStringOf } from '../certificates/names.ts';
import type { ParsedAttribute } from '../cms/parse-signed-data.ts';
import { orUndefined } from '../errors/codesign-error.ts';

export interface InspectedAttribute {
  readonly type: NamedObject;
  readonly values: readonly InspectedValue[];
}

export interface InspectedValue {
  /** Text that is not escaped. undefined for long values, timestamps and nested signatures. */
  readonly text: string | undefined;
  readonly length: number;
  readonly bytes: Uint8Array | undefined;
}

/** Attributes that have their own sections in the output. */
const SHOWN_ELSEWHERE: readonly string[] = [
  SPC_NESTED_SIGNATURE,
  SPC_RFC3161_TIMESTAMP,
  TIMESTAMP_TOKEN,
  COUNTER_SIGNATURE,
];
const LONGEST_BYTES = 256;
const LONGEST_TEXT = 64 * 1024;

export function inspectAttributes(attributes: readonly ParsedAttribute[]): InspectedAttribute[] {
  return attributes.map(({ type, values }) => ({
    type: namedObject(type),
    values: values.map((value) => ({
      text: SHOWN_ELSEWHERE.includes(type) ? undefined : textOfValue(type, value),
      length: value.bytes.length,
      bytes: value.bytes.length > LONGEST_BYTES ? undefined : value.bytes,
    })),
  }));
}

function textOfValue(type: string, value: Element): string | undefined {
  if (value.bytes.length > LONGEST_TEXT) return undefined;
  switch (type) {
    case SPC_SP_OPUS_INFO:
      return orUndefined(() => describeOpusInfo(value));
    case SIGNING_CERTIFICATE:
      return orUndefined(() => describeSigningCertificate(value, 'SHA-1'));
    case SIGNING_CERTIFICATE_V2:
      return orUndefined(() => describeSigningCertificate(value, 'SHA-256'));
    default:
      return describeValue(value);
  }
}

/** `[0]` is the name of the program, `[1]` its web page. */
function describeOpusInfo(value: Element): string {
  const texts = parts(value, 'SpcSpOpusInfo').flatMap(({ tag, contents }) => {
    const inner = readElement(contents, 'SpcSpOpusInfo');
    const text = Buffer.from(inner.contents);
    if (tag === 0xa0 && inner.tag === 0x80 && text.length % 2 === 0) return [`"${text.swap16().toString('utf16le')}"`];
    return (tag === 0xa0 && inner.tag === 0x81) || (tag === 0xa1 && inner.tag === 0x80) ? [text.toString('utf8')] : [];
  });
  return texts.length === 0 ? 'neither name nor web page' : texts.join(', ');
}

/** ESSCertIDv2 contains the digest algorithm unless it is SHA-256 (RFC 5035). */
function describeSigningCertificate(value: Element, otherwise: string): string {
  const [list] = parts(value, 'SigningCertificate');
  if (list === undefined) return '';
  const described = parts(list, 'ESSCertID').map((certificate) => {
    const fields = fieldsOf(certificate, 0x30, 'ESSCertID');
    const algorithm = otherwise === 'SHA-1' ? undefined : fields.optional(0x30);
    const digest = octetsOf(fields.any('digest'), 'ESSCertID, digest');
    return `${algorithm === undefined ? otherwise : nameOrDotted(algorithmOf(algorithm, 'algorithm'))} ${hexOf(digest)}`;
  });
  return described.join(', ');
}

/** A longer value would not fit on one line. */
const LONGEST_VALUE = 1024;
/** Real values have about five nesting levels. */
const MAX_DEPTH = 12;
const MAX_DECIMAL_OCTETS = 6;

/** Returns undefined for a long or unreadable value. The text is not escaped, so it may contain control characters. */
export function describeValue(element: Element): string | undefined {
  if (element.bytes.length > LONGEST_VALUE) return undefined;
  return orUndefined(() => describe(element, 0));
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
    case 0x1a: // VisibleString
      return Buffer.from(contents).toString('latin1');
    default:
  }
  const text = characterStringOf(tag, contents);
  if (text !== undefined) return text;
  if ((tag & 0x20) === 0 || depth === MAX_DEPTH) return hexOf(contents);
  const described = parts(element, 'value').map((part) => describe(part, depth + 1));
  const texts = described.filter((part) => part !== '');
  const [only] = texts;
  // Omits the parentheses around a single part.
  if (only !== undefined && texts.length === 1) return only;
  return depth === 0 ? texts.join(', ') : `(${texts.join(', ')})`;
}

export function nameOrDotted(oid: string): string {
  return objectName(oid) ?? oid;
}

export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}

function describeInteger(contents: Uint8Array): string {
  if (contents.length === 0 || contents.length > MAX_DECIMAL_OCTETS) return hexOf(contents);
  return String(Buffer.from(contents).readIntBE(0, contents.length));
}

/** The two-digit years of a UTCTime extend to 2049. A time in any other form is returned unchanged. */
function describeTime(contents: Uint8Array, yearDigits: 2 | 4): string {
  const text = Buffer.from(contents).toString('latin1');
  const year = text.slice(0, yearDigits);
  const rest = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?(?:\.\d+)?Z$/.exec(text.slice(yearDigits));
  if (!/^\d+$/.test(year) || rest === null) return text;
  const [, month, day, hour, minute, second = '00'] = rest;
  const century = yearDigits === 4 ? '' : Number(year) < 50 ? '20' : '19';
  return `${century}${year}-${month}-${day}T${hour}:${minute}:${second}Z`;
}
