/** Reading the SPC structures that say something to people: SpcSpOpusInfo, SpcLink, SpcPeImageData. Throws `asn1-malformed`. */

import { asn1Errors } from '../asn1/errors.ts';
import {
  type Element,
  expectTag,
  fieldsOf,
  objectIdentifierOf,
  octetsOf,
  onlyPart,
  parts,
  readElement,
} from '../asn1/read.ts';
import { SPC_PAGE_HASHES_V1, SPC_PAGE_HASHES_V2 } from './object-identifiers.ts';

export interface OpusInfo {
  readonly programName: string | undefined;
  readonly moreInfo: string | undefined;
}

export interface PeImageData {
  /** Names of those that are set. */
  readonly flags: readonly string[];
  /** What is at the other end of the link: text, or what the object is. */
  readonly link: string | undefined;
}

const FLAGS: readonly (readonly [bit: number, name: string])[] = [
  [0x80, 'includeResources'],
  [0x40, 'includeDebugInfo'],
  [0x20, 'includeImportAddressTable'],
];
/** The class of SpcSerializedObject that holds page hashes. */
const PAGE_HASHES_CLASS = 'a6b586d5b4a12466ae05a217da8e60d6';
const PAGE_HASHES: ReadonlyMap<string, string> = new Map([
  [SPC_PAGE_HASHES_V1, 'SHA1'],
  [SPC_PAGE_HASHES_V2, 'SHA256'],
]);

/** In bytes: nobody reads a longer one. */
const LONGEST_TEXT = 64 * 1024;

export function readOpusInfo(value: Element): OpusInfo {
  const fields = fieldsOf(value, 0x30, 'SpcSpOpusInfo');
  const name = fields.optional(0xa0);
  const link = fields.optional(0xa1);
  return {
    programName: name === undefined ? undefined : readSpcString(onlyPart(name, 'programName')),
    moreInfo: link === undefined ? undefined : readLink(onlyPart(link, 'moreInfo')),
  };
}

export function readStatementTypes(value: Element): readonly string[] {
  expectTag(value, 0x30, 'SpcStatementType');
  return parts(value, 'SpcStatementType').map((purpose) => objectIdentifierOf(purpose, 'SpcStatementType'));
}

export function readPeImageData(value: Element): PeImageData {
  const what = 'SpcPeImageData';
  const fields = fieldsOf(value, 0x30, what);
  const bits = fields.optional(0x03)?.contents[1] ?? 0;
  const file = fields.optional(0xa0);
  fields.end();
  return {
    flags: FLAGS.filter(([bit]) => (bits & bit) !== 0).map(([, name]) => name),
    link: file === undefined ? undefined : readLink(onlyPart(file, what)),
  };
}

/** The algorithms of the page hashes that an SpcPeImageData carries; they are not compared with the file. */
export function pageHashesIn(value: Element): readonly string[] {
  const what = 'page hashes';
  const fields = fieldsOf(value, 0x30, what);
  fields.optional(0x03);
  const file = fields.optional(0xa0);
  const link = file === undefined ? undefined : onlyPart(file, what);
  if (link?.tag !== 0xa1) return [];
  const object = fieldsOf(link, 0xa1, what);
  if (classOf(object.next(0x04, 'class')) !== PAGE_HASHES_CLASS) return [];
  const serialized = readElement(octetsOf(object.any('data'), what), what);
  return parts(serialized, what).map((attribute) => {
    const type = objectIdentifierOf(fieldsOf(attribute, 0x30, what).next(0x06, 'type'), what);
    return PAGE_HASHES.get(type) ?? type;
  });
}

/** SpcLink: url, moniker or file. */
function readLink(link: Element): string {
  const what = 'SpcLink';
  switch (link.tag) {
    case 0x80:
      return Buffer.from(link.contents.subarray(0, LONGEST_TEXT)).toString('latin1');
    case 0xa1: {
      const object = fieldsOf(link, 0xa1, what);
      const name = classOf(object.next(0x04, 'class'));
      octetsOf(object.any('data'), what);
      object.end();
      return `an object of class ${name}`;
    }
    default:
      return readSpcString(onlyPart(expectTag(link, 0xa2, what), what));
  }
}

/** SpcString: BMPString under `[0]`, IA5String under `[1]`, which osslsigncode fills with UTF-8. */
function readSpcString({ tag, contents, offset }: Element): string {
  if (contents.length > LONGEST_TEXT) {
    throw asn1Errors('asn1-malformed', { what: 'SpcString', problem: `longer than ${LONGEST_TEXT} bytes`, offset });
  }
  if (tag === 0x81) return Buffer.from(contents).toString('utf8');
  if (tag !== 0x80 || contents.length % 2 !== 0) {
    throw asn1Errors('asn1-malformed', { what: 'SpcString', problem: 'no text', offset });
  }
  return Buffer.from(contents).swap16().toString('utf16le');
}

const classOf = (element: Element): string => Buffer.from(element.contents).toString('hex');
