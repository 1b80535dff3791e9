/** The fields of an X.509 certificate (RFC 5280, 4.1) as the bytes they are encoded in: what node:crypto does not show. */

import { asn1Errors } from '../asn1/errors.ts';
import {
  AUTHORITY_KEY_IDENTIFIER,
  BASIC_CONSTRAINTS,
  EXTENDED_KEY_USAGE,
  KEY_USAGE,
  SUBJECT_KEY_IDENTIFIER,
} from '../asn1/object-identifiers.ts';
import {
  bitsOf,
  type Element,
  fieldsOf,
  firstParts,
  objectIdentifierOf,
  octetsOf,
  onlyPart,
  parts,
  readDer,
} from '../asn1/read.ts';

/** More than a path ever has: what is not shown exactly must still be a number that can be compared. */
const LONGEST_PATH = 255;

/** Bits of keyUsage, as they stand in its first octet (RFC 5280, 4.2.1.3). */
export const KEY_USAGE_BITS = {
  digitalSignature: 0x80,
  contentCommitment: 0x40,
  keyCertSign: 0x04,
  cRLSign: 0x02,
} as const;

/** In bytes: real ones have two thousand, with signatures of the largest post-quantum kinds fifty thousand. */
const LONGEST_CERTIFICATE = 64 * 1024;
/** Real ones have about ten. */
const MAX_EXTENSIONS = 100;

export type CertificateFields = ReturnType<typeof readCertificateFields>;

/** Reads a DER certificate. Throws `asn1-malformed`, also for one made to exhaust its reader. */
export function readCertificateFields(der: Uint8Array) {
  const what = 'certificate';
  if (der.length > LONGEST_CERTIFICATE) throw tooMuch(what, `longer than ${LONGEST_CERTIFICATE} bytes`);
  const certificate = fieldsOf(readDer(der, what), 0x30, what);
  const body = fieldsOf(certificate.next(0x30, 'body'), 0x30, what);
  body.optional(0xa0); // version
  const serialNumber = body.next(0x02, 'serial number').bytes;
  const signatureAlgorithm = body.next(0x30, 'signature algorithm').bytes;
  const issuer = body.next(0x30, 'issuer').bytes;
  body.next(0x30, 'validity');
  const subject = body.next(0x30, 'subject').bytes;
  const publicKeyInfo = body.next(0x30, 'public key').bytes;
  body.optional(0x81); // issuer's unique identifier
  body.optional(0x82); // subject's unique identifier
  const tagged = body.optional(0xa3);
  const extensions = readExtensions(tagged && onlyPart(tagged, 'extensions'), what);
  body.end();
  const types = extensions.map(({ type }) => type);
  return {
    /** The whole INTEGER. */
    serialNumber,
    /** The whole Name. */
    issuer,
    /** The whole Name. */
    subject,
    /** The whole SubjectPublicKeyInfo. */
    publicKeyInfo,
    /** What the issuer signed it with: the whole AlgorithmIdentifier. */
    signatureAlgorithm,
    /** Dotted object identifier → what the extension's OCTET STRING holds. */
    extensions: new Map(extensions.map(({ type, value }) => [type, value])),
    /** Those of them that a reader must not ignore, dotted. */
    criticalExtensions: extensions.flatMap(({ type, isCritical }) => (isCritical ? [type] : [])),
    /** Those that are there more than once, which RFC 5280, 4.2 forbids, dotted; `extensions` has the last of each. */
    repeatedExtensions: types.filter((type, index) => types.indexOf(type) < index),
  };
}

/** The value of an extension; undefined if the certificate does not have it. */
export function extensionOf({ extensions }: CertificateFields, type: string, what: string): Element | undefined {
  const value = extensions.get(type);
  return value && readDer(value, what);
}

/** Whether keyUsage has one of these bits; without the extension the key may be used for anything (RFC 5280, 4.2.1.3). */
export function allowsKeyUsage(fields: CertificateFields, bits: number): boolean {
  const extension = extensionOf(fields, KEY_USAGE, 'keyUsage');
  return extension === undefined || ((bitsOf(extension, 'keyUsage')[0] ?? 0) & bits) !== 0;
}

export interface BasicConstraints {
  readonly isAuthority: boolean;
  /** How many authorities may stand between this one and the leaf, self-issued ones not counted; undefined: any number. */
  readonly pathLength: number | undefined;
}

/** undefined without the extension: of version 3, no authority then (RFC 5280, 4.2.1.9). */
export function basicConstraintsOf(certificate: CertificateFields): BasicConstraints | undefined {
  const what = 'basicConstraints';
  const extension = extensionOf(certificate, BASIC_CONSTRAINTS, what);
  if (extension === undefined) return undefined;
  const fields = fieldsOf(extension, 0x30, what);
  const isAuthority = isTrue(fields.optional(0x01));
  const length = fields.optional(0x02);
  fields.end();
  return { isAuthority, pathLength: length && smallNumberOf(length) };
}

/** The purposes of extendedKeyUsage, dotted; undefined without the extension, which means any (RFC 5280, 4.2.1.12). */
export function extendedKeyUsageOf(fields: CertificateFields): readonly string[] | undefined {
  const what = 'extendedKeyUsage';
  const extension = extensionOf(fields, EXTENDED_KEY_USAGE, what);
  return extension && parts(extension, what).map((purpose) => objectIdentifierOf(purpose, what));
}

export function subjectKeyIdentifierOf(fields: CertificateFields): Uint8Array | undefined {
  const extension = extensionOf(fields, SUBJECT_KEY_IDENTIFIER, 'key identifier');
  return extension && octetsOf(extension, 'key identifier');
}

/** The keyIdentifier of authorityKeyIdentifier: a hint which of several issuers of one name it was. */
export function authorityKeyIdentifierOf(fields: CertificateFields): Uint8Array | undefined {
  const extension = extensionOf(fields, AUTHORITY_KEY_IDENTIFIER, 'key identifier');
  return extension && fieldsOf(extension, 0x30, 'key identifier').optional(0x80)?.contents;
}

function isTrue(boolean: Element | undefined): boolean {
  return boolean !== undefined && boolean.contents[0] !== 0;
}

/** A non-negative INTEGER; a large one as the largest that matters. */
function smallNumberOf({ contents }: Element): number {
  const [first = 0x80] = contents;
  if (first >= 0x80) return 0; // negative or empty: no valid value, so the narrowest one
  return contents.length === 1 ? first : LONGEST_PATH;
}

export interface Extension {
  /** Dotted object identifier. */
  readonly type: string;
  readonly isCritical: boolean;
  /** Contents of the extension's OCTET STRING. */
  readonly value: Uint8Array;
}

/** The Extensions of a certificate, CRL, OCSP answer or timestamp. Throws `asn1-malformed`. */
export function readExtensions(list: Element | undefined, what: string): readonly Extension[] {
  const all = list === undefined ? [] : firstParts(list, what, MAX_EXTENSIONS + 1);
  if (all.length > MAX_EXTENSIONS) throw tooMuch(what, `more than ${MAX_EXTENSIONS} extensions`);
  return all.map((extension) => {
    const fields = fieldsOf(extension, 0x30, what);
    const type = objectIdentifierOf(fields.next(0x06, 'type'), what);
    const isCritical = isTrue(fields.optional(0x01));
    return { type, isCritical, value: octetsOf(fields.any('value'), what) };
  });
}

function tooMuch(what: string, problem: string) {
  return asn1Errors('asn1-malformed', { what, problem, offset: 0 });
}
