/** Signed and unsigned attributes for people: each by its name, its value in words where it is short. */

import { type Element, fieldsOf, objectIdentifierOf, octetsOf, parts, readElement } from '../asn1/read.ts';
import { SPC_NESTED_SIGNATURE, SPC_RFC3161_TIMESTAMP, SPC_SP_OPUS_INFO } from '../authenticode/object-identifiers.ts';
import { COUNTER_SIGNATURE, TIMESTAMP_TOKEN } from '../cms/object-identifiers.ts';
import type { ParsedAttribute } from '../cms/parse-signed-data.ts';
import { describeValue, hexOf, nameOrDotted, readable } from './inspect-value.ts';
import { type NamedObject, namedObject } from './object-names.ts';

export interface InspectedAttribute {
  readonly type: NamedObject;
  readonly values: readonly InspectedValue[];
}

export interface InspectedValue {
  /** In words; undefined for what is long, or is shown elsewhere (timestamps, nested signatures). Raw. */
  readonly text: string | undefined;
  /** The encoding's. */
  readonly length: number;
  /** The encoding, when it is short. */
  readonly bytes: Uint8Array | undefined;
}

const SIGNING_CERTIFICATE = '1.2.840.113549.1.9.16.2.12';
const SIGNING_CERTIFICATE_V2 = '1.2.840.113549.1.9.16.2.47';
/** Signatures and timestamps, which stand by themselves in the inspection. */
const SHOWN_ELSEWHERE: readonly string[] = [
  SPC_NESTED_SIGNATURE,
  SPC_RFC3161_TIMESTAMP,
  TIMESTAMP_TOKEN,
  COUNTER_SIGNATURE,
];
const LONGEST_BYTES = 256;
/** Of an encoding that is put in words although it is longer than other values are. */
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
      return readable(() => describeOpusInfo(value));
    case SIGNING_CERTIFICATE:
      return readable(() => describeSigningCertificate(value, 'SHA-1'));
    case SIGNING_CERTIFICATE_V2:
      return readable(() => describeSigningCertificate(value, 'SHA-256'));
    default:
      return describeValue(value);
  }
}

/** Program's name under [0], its web page under [1]. */
function describeOpusInfo(value: Element): string {
  const told = parts(value, 'SpcSpOpusInfo').flatMap(({ tag, contents }) => {
    const inner = readElement(contents, 'SpcSpOpusInfo');
    const text = Buffer.from(inner.contents);
    if (tag === 0xa0 && inner.tag === 0x80 && text.length % 2 === 0) return [`"${text.swap16().toString('utf16le')}"`];
    return (tag === 0xa0 && inner.tag === 0x81) || (tag === 0xa1 && inner.tag === 0x80) ? [text.toString('utf8')] : [];
  });
  return told.length === 0 ? 'neither name nor web page' : told.join(', ');
}

/** RFC 5035: ESSCertID has SHA-1, ESSCertIDv2 says which unless it is SHA-256. */
function describeSigningCertificate(value: Element, otherwise: string): string {
  const [list] = parts(value, 'SigningCertificate');
  if (list === undefined) return '';
  const described = parts(list, 'ESSCertID').map((certificate) => {
    const fields = fieldsOf(certificate, 0x30, 'ESSCertID');
    const algorithm = otherwise === 'SHA-1' ? undefined : fields.optional(0x30);
    const digest = octetsOf(fields.any('digest'), 'ESSCertID, digest');
    return `${algorithm === undefined ? otherwise : algorithmName(algorithm)} ${hexOf(digest)}`;
  });
  return described.join(', ');
}

function algorithmName(algorithm: Element): string {
  return nameOrDotted(objectIdentifierOf(fieldsOf(algorithm, 0x30, 'algorithm').next(0x06, 'identifier'), 'algorithm'));
}
