/** The fields of an X.509 certificate (RFC 5280, 4.1) as the bytes they are encoded in: what node:crypto does not tell. */

import { asn1Errors } from '../asn1/errors.ts';
import {
  AUTHORITY_KEY_IDENTIFIER,
  BASIC_CONSTRAINTS,
  EXTENDED_KEY_USAGE,
  KEY_USAGE,
  SUBJECT_KEY_IDENTIFIER,
} from '../asn1/object-identifiers.ts';
import {
  type Element,
  expectTag,
  fieldsOf,
  firstParts,
  objectIdentifierOf,
  octetsOf,
  parts,
  readDer,
} from '../asn1/read.ts';

export interface CertificateFields {
  /** The whole INTEGER. */
  readonly serialNumber: Uint8Array;
  /** The whole Name. */
  readonly issuer: Uint8Array;
  /** The whole Name. */
  readonly subject: Uint8Array;
  /** Dotted object identifier → what the extension's OCTET STRING holds. */
  readonly extensions: ReadonlyMap<string, Uint8Array>;
  /** Those of them that a reader must not ignore, dotted. */
  readonly criticalExtensions: readonly string[];
  /** Those that are there more than once, which RFC 5280, 4.2 forbids, dotted; `extensions` has the last of each. */
  readonly repeatedExtensions: readonly string[];
  /** The whole SubjectPublicKeyInfo. */
  readonly publicKeyInfo: Uint8Array;
  /** What the issuer signed it with: the whole AlgorithmIdentifier. */
  readonly signatureAlgorithm: Uint8Array;
}

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

/** Reads a DER certificate. Throws `asn1-malformed`, also for one made to exhaust its reader. */
export function readCertificateFields(der: Uint8Array): CertificateFields {
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
  const extensions = readExtensions(body.optional(0xa3));
  body.end();
  const types = extensions.map(({ type }) => type);
  return {
    serialNumber,
    issuer,
    subject,
    publicKeyInfo,
    signatureAlgorithm,
    extensions: new Map(extensions.map(({ type, value }) => [type, value])),
    criticalExtensions: extensions.flatMap(({ type, isCritical }) => (isCritical ? [type] : [])),
    repeatedExtensions: types.filter((type, index) => types.indexOf(type) < index),
  };
}

/** Whether keyUsage lets the key sign; without the extension it may (RFC 5280, 4.2.1.3). */
export function allowsDigitalSignature(fields: CertificateFields): boolean {
  return allowsKeyUsage(fields, KEY_USAGE_BITS.digitalSignature);
}

/** Whether keyUsage has one of these bits; without the extension the key may be used for anything. */
export function allowsKeyUsage({ extensions }: CertificateFields, bits: number): boolean {
  const extension = extensions.get(KEY_USAGE);
  if (extension === undefined) return true;
  const { contents } = expectTag(readDer(extension, 'keyUsage'), 0x03, 'keyUsage');
  return ((contents[1] ?? 0) & bits) !== 0;
}

export interface BasicConstraints {
  readonly isAuthority: boolean;
  /** How many authorities may stand between this one and the leaf, self-issued ones not counted; undefined: any number. */
  readonly pathLength: number | undefined;
}

/** undefined without the extension: of version 3, no authority then (RFC 5280, 4.2.1.9). */
export function basicConstraintsOf({ extensions }: CertificateFields): BasicConstraints | undefined {
  const extension = extensions.get(BASIC_CONSTRAINTS);
  if (extension === undefined) return undefined;
  const fields = fieldsOf(readDer(extension, 'basicConstraints'), 0x30, 'basicConstraints');
  const isAuthority = isTrue(fields.optional(0x01));
  const length = fields.optional(0x02);
  fields.end();
  return { isAuthority, pathLength: length === undefined ? undefined : smallNumberOf(length) };
}

/** The purposes of extendedKeyUsage, dotted; undefined without the extension, which means any (RFC 5280, 4.2.1.12). */
export function extendedKeyUsageOf({ extensions }: CertificateFields): readonly string[] | undefined {
  const extension = extensions.get(EXTENDED_KEY_USAGE);
  if (extension === undefined) return undefined;
  const what = 'extendedKeyUsage';
  return parts(readDer(extension, what), what).map((purpose) => objectIdentifierOf(purpose, what));
}

export function subjectKeyIdentifierOf({ extensions }: CertificateFields): Uint8Array | undefined {
  const extension = extensions.get(SUBJECT_KEY_IDENTIFIER);
  return extension === undefined ? undefined : octetsOf(readDer(extension, 'key identifier'), 'key identifier');
}

/** The keyIdentifier of authorityKeyIdentifier: a hint which of several issuers of one name it was. */
export function authorityKeyIdentifierOf({ extensions }: CertificateFields): Uint8Array | undefined {
  const extension = extensions.get(AUTHORITY_KEY_IDENTIFIER);
  if (extension === undefined) return undefined;
  return fieldsOf(readDer(extension, 'key identifier'), 0x30, 'key identifier').optional(0x80)?.contents;
}

/** What the issuer signed it with, dotted, without parameters. */
export function signatureAlgorithmOf({ signatureAlgorithm }: CertificateFields): string {
  const what = 'signature algorithm';
  return objectIdentifierOf(fieldsOf(readDer(signatureAlgorithm, what), 0x30, what).next(0x06, 'identifier'), what);
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

/** An Extension of a certificate, CRL or OCSP answer. Throws `asn1-malformed`. */
export function readExtension(extension: Element, what: string): Extension {
  const fields = fieldsOf(extension, 0x30, what);
  const type = objectIdentifierOf(fields.next(0x06, 'type'), what);
  const isCritical = isTrue(fields.optional(0x01));
  return { type, isCritical, value: octetsOf(fields.any('value'), what) };
}

/** The Extensions under an EXPLICIT tag. Throws `asn1-malformed`. */
function readExtensions(tagged: Element | undefined): readonly Extension[] {
  const [list] = tagged === undefined ? [] : firstParts(tagged, 'extensions', 1);
  const all = list === undefined ? [] : firstParts(list, 'extensions', MAX_EXTENSIONS + 1);
  if (all.length > MAX_EXTENSIONS) throw tooMuch('certificate', `more than ${MAX_EXTENSIONS} extensions`);
  return all.map((extension) => readExtension(extension, 'extension'));
}

function tooMuch(what: string, problem: string) {
  return asn1Errors('asn1-malformed', { what, problem, offset: 0 });
}
