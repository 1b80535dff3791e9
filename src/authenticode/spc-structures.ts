import { asn1Errors } from '../asn1/errors.ts';
import { SPC_INDIRECT_DATA } from '../asn1/object-identifiers.ts';
import { type Element, expectTag, fieldsOf, objectIdentifierOf, octetsOf, onlyPart, parts } from '../asn1/read.ts';
import {
  contextConstructed,
  contextPrimitive,
  objectIdentifier,
  octetString,
  sequence,
  utf16be,
} from '../asn1/write.ts';
import { digestAlgorithm } from '../cms/build-signed-data.ts';
import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { ProgramInfo } from './program-info.ts';

/** An object identifier and a value in DER, for example SpcAttributeTypeAndOptionalValue. */
export interface SpcData {
  readonly type: string;
  readonly value: Uint8Array;
}

export function spcContent(data: SpcData, algorithm: DigestAlgorithm, contentDigest: Uint8Array): SpcData {
  const value = sequence(
    sequence(objectIdentifier(data.type), data.value),
    sequence(digestAlgorithm(algorithm), octetString(contentDigest)),
  );
  return { type: SPC_INDIRECT_DATA, value };
}

/** Writes the description as a BMPString, like signtool. The URL must be ASCII. */
export function spcSpOpusInfo({ description, url }: ProgramInfo): Uint8Array {
  return sequence(
    ...(description === undefined ? [] : [contextConstructed(0, spcUnicode(description))]),
    ...(url === undefined ? [] : [contextConstructed(1, contextPrimitive(0, Buffer.from(url, 'latin1')))]),
  );
}

export function spcUnicode(text: string): Uint8Array {
  return contextPrimitive(0, utf16be(text));
}

const LONGEST_TEXT = 64 * 1024;

export function readOpusInfo(value: Element): ProgramInfo {
  const fields = fieldsOf(value, 0x30, 'SpcSpOpusInfo');
  const name = fields.optional(0xa0);
  const link = fields.optional(0xa1);
  return {
    description: name === undefined ? undefined : readSpcString(onlyPart(name, 'programName')),
    url: link === undefined ? undefined : readLink(onlyPart(link, 'moreInfo')),
  };
}

export function readStatementTypes(value: Element): readonly string[] {
  expectTag(value, 0x30, 'SpcStatementType');
  return parts(value, 'SpcStatementType').map((purpose) => objectIdentifierOf(purpose, 'SpcStatementType'));
}

export function readLink(link: Element): string {
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

/** A BMPString under `[0]`, or an IA5String under `[1]`. osslsigncode writes UTF-8 in the IA5String. */
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

export const classOf = (element: Element): string => Buffer.from(element.contents).toString('hex');
