import { asn1Errors } from '../asn1/errors.ts';
import { COMMON_NAME, EMAIL_ADDRESS, NAME_ATTRIBUTES, ORGANIZATION } from '../asn1/object-identifiers.ts';
import { type Element, fieldsOf, firstParts, objectIdentifierOf, readDer } from '../asn1/read.ts';

export interface NameAttribute {
  readonly type: string;
  /** Values that are not strings are shown as `#` and their contents in hexadecimal. */
  readonly value: string;
}

/** Comparing a longer name would take as long as all other checks of a chain. */
const LONGEST_NAME = 16 * 1024;
const MAX_ATTRIBUTES = 100;

/**
 * Throws `asn1-malformed` also for a name that is too long or has too many attributes. Texts are not escaped: they may
 * contain control characters.
 */
export function readName(der: Uint8Array) {
  if (der.length > LONGEST_NAME) throw tooMuch(`longer than ${LONGEST_NAME} bytes`);
  let room = MAX_ATTRIBUTES;
  const some = (element: Element, what: string): Element[] => {
    const found = firstParts(element, what, room + 1);
    if (found.length > room) throw tooMuch(`more than ${MAX_ATTRIBUTES} attributes`);
    return found;
  };
  const relativeNames = some(readDer(der, 'name'), 'name').map((relative) => {
    const attributes = some(relative, 'relative name');
    room -= attributes.length;
    return attributes.map((attribute) => {
      const fields = fieldsOf(attribute, 0x30, 'name attribute');
      const type = objectIdentifierOf(fields.next(0x06, 'type'), 'attribute type');
      const { tag, contents } = fields.any('value');
      const value = characterStringOf(tag, contents) ?? `#${Buffer.from(contents).toString('hex')}`;
      return { type, value, comparable: comparable(value) };
    });
  });
  const attributes = relativeNames.flat();
  const lastOf = (wanted: string) =>
    attributes.findLast(({ type, comparable }) => type === wanted && comparable !== '');
  const commonName = attributes.findLast(({ type }) => type === COMMON_NAME)?.value;
  return {
    /** The last attribute is the most specific one. */
    commonName,
    /** Names are compared by organization, by common name, or as a whole. */
    publisher: (lastOf(ORGANIZATION) ?? lastOf(COMMON_NAME))?.comparable ?? keyOf(attributes),
    /** The whole name on one line, in encoded order. */
    text: attributes.map(({ type, value }) => `${NAME_ATTRIBUTES[type] ?? type}=${value}`).join(', '),
    /** Ignores string types, case and spaces (RFC 5280, section 7.1). */
    key: keyOf(attributes),
    relativeKeys: relativeNames.map(keyOf),
    emailAddresses: attributes.filter(({ type }) => type === EMAIL_ADDRESS).map(({ value }) => value),
    relativeNames: relativeNames as readonly (readonly NameAttribute[])[],
  };
}

function tooMuch(problem: string) {
  return asn1Errors('asn1-malformed', { what: 'name', problem, offset: 0 });
}

function keyOf(attributes: readonly { readonly type: string; readonly comparable: string }[]): string {
  return JSON.stringify(attributes.map(({ type, comparable }) => [type, comparable]));
}

function comparable(value: string): string {
  return value.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase();
}

export function characterStringOf(tag: number, contents: Uint8Array): string | undefined {
  const bytes = Buffer.from(contents);
  switch (tag) {
    case 0x0c: // UTF8String
      return bytes.toString('utf8');
    case 0x12: // NumericString
    case 0x13: // PrintableString
    case 0x14: // TeletexString, in practice Latin-1
    case 0x16: // IA5String
      return bytes.toString('latin1');
    case 0x1e: // BMPString
      return bytes.length % 2 === 0 ? bytes.swap16().toString('utf16le') : undefined;
    default:
      return undefined;
  }
}

/** All tags are IMPLICIT except that of directoryName, which is a CHOICE. */
export const GENERAL_NAME = {
  rfc822Name: 0x81,
  dNSName: 0x82,
  directoryName: 0xa4,
  uniformResourceIdentifier: 0x86,
  iPAddress: 0x87,
} as const;

/** Octets above 127 become Latin-1, which never matches another name or URL. */
export function textOf({ contents }: Element): string {
  return Buffer.from(contents.buffer, contents.byteOffset, contents.byteLength).toString('latin1');
}
