import { type KeyObject, X509Certificate } from 'node:crypto';
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
  readElement,
} from '../asn1/read.ts';
import { CodesignError, orUndefined } from '../errors/codesign-error.ts';
import { certificateErrors } from './errors.ts';
import { readName } from './names.ts';

/** Windows rejects larger exponents. An exponent as long as the modulus would make verifying a hundred times slower. */
const LARGEST_EXPONENT = 2n ** 32n;
/** FIPS 186-4 permits keys of 3072 bits, and OpenSSL permits 10,000 bits. Verifying with this limit takes 10 ms. */
const LARGEST_DSA_MODULUS = 4096;

export interface Certificate {
  readonly der: Uint8Array;
  readonly name: string;
}

export interface ParsedCertificate extends Certificate {
  readonly x509: X509Certificate;
  readonly fields: CertificateFields;
  readonly issuerName: string;
  /** Equals `issuerKey` in every certificate that this certificate issued. */
  readonly subjectKey: string;
  readonly issuerKey: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** Ignores bytes after the certificate, such as OpenSSL's trust settings. */
export function parseCertificate(der: Uint8Array, file: string): ParsedCertificate {
  try {
    const exact = Uint8Array.from(readElement(der, 'certificate').bytes);
    const x509 = new X509Certificate(exact);
    const fields = readCertificateFields(exact);
    const subject = readName(fields.subject);
    const issuer = readName(fields.issuer);
    return {
      der: exact,
      name: subject.commonName ?? subject.text,
      x509,
      fields,
      issuerName: issuer.commonName ?? issuer.text,
      subjectKey: subject.key,
      issuerKey: issuer.key,
      notBefore: readDate(x509.validFrom),
      notAfter: readDate(x509.validTo),
    };
  } catch (cause) {
    const problem = cause instanceof CodesignError ? cause.message : 'a certificate in it is damaged';
    throw certificateErrors('certificate-file-unreadable', { file, problem }, { cause });
  }
}

export function isReadableCertificate(der: Uint8Array): boolean {
  return orUndefined(() => parseCertificate(der, 'it')) !== undefined;
}

/** A comparison with an Invalid Date is always false, so such a certificate would never count as expired. */
function readDate(text: string): Date {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) throw new RangeError(`not a date: ${text}`);
  return date;
}

export function isSelfSigned(certificate: ParsedCertificate): boolean {
  return hasSigned(certificate, certificate);
}

/** Returns false if OpenSSL does not support the issuer's type of key. */
export function hasSigned(issuer: ParsedCertificate, certificate: ParsedCertificate): boolean {
  if (issuer.subjectKey !== certificate.issuerKey) return false;
  const key = publicKeyOf(issuer);
  if (key === undefined) return false;
  try {
    return certificate.x509.verify(key);
  } catch {
    return false; // The signature algorithm does not match the key.
  }
}

/** Returns undefined if OpenSSL does not support the key, or if verifying with it is very slow. */
export function publicKeyOf({ x509 }: Pick<ParsedCertificate, 'x509'>): KeyObject | undefined {
  try {
    const key = x509.publicKey;
    const { publicExponent = 0n, modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
    const isSlow = key.asymmetricKeyType === 'dsa' && modulusLength > LARGEST_DSA_MODULUS;
    return isSlow || publicExponent >= LARGEST_EXPONENT ? undefined : key;
  } catch {
    return undefined;
  }
}

/** No path is this long, so reducing longer path limits to this value does not change any comparison. */
const LONGEST_PATH = 255;

/** These bits are in the first content octet of keyUsage (RFC 5280, section 4.2.1.3). */
export const KEY_USAGE_BITS = {
  digitalSignature: 0x80,
  contentCommitment: 0x40,
  keyCertSign: 0x04,
  cRLSign: 0x02,
} as const;

/** Real certificates have about 2,000 bytes, or 50,000 with the largest post-quantum signatures. */
const LONGEST_CERTIFICATE = 64 * 1024;
const MAX_EXTENSIONS = 100;

/** The parts of a certificate that node:crypto does not provide (RFC 5280, section 4.1). */
export type CertificateFields = ReturnType<typeof readCertificateFields>;

/** Throws `asn1-malformed` also for a certificate that is too long or has too many extensions. */
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
    serialNumber,
    issuer,
    subject,
    publicKeyInfo,
    signatureAlgorithm,
    extensions: new Map(extensions.map(({ type, value }) => [type, value])),
    criticalExtensions: extensions.flatMap(({ type, isCritical }) => (isCritical ? [type] : [])),
    /**
     * Extensions that occur more than once, which RFC 5280, section 4.2, forbids. `extensions` contains only the last
     * occurrence.
     */
    repeatedExtensions: types.filter((type, index) => types.indexOf(type) < index),
  };
}

export function extensionOf({ extensions }: CertificateFields, type: string, what: string): Element | undefined {
  const value = extensions.get(type);
  return value && readDer(value, what);
}

/** Without keyUsage, the key may be used for any purpose (RFC 5280, section 4.2.1.3). */
export function allowsKeyUsage(fields: CertificateFields, bits: number): boolean {
  const extension = extensionOf(fields, KEY_USAGE, 'keyUsage');
  return extension === undefined || ((bitsOf(extension, 'keyUsage')[0] ?? 0) & bits) !== 0;
}

/**
 * Without basicConstraints, a certificate of version 3 belongs to no authority (RFC 5280, section 4.2.1.9). `pathLength` is
 * the maximum number of authorities below this one, not counting self-issued ones.
 */
export function basicConstraintsOf(certificate: CertificateFields) {
  const what = 'basicConstraints';
  const extension = extensionOf(certificate, BASIC_CONSTRAINTS, what);
  if (extension === undefined) return undefined;
  const fields = fieldsOf(extension, 0x30, what);
  const isAuthority = isTrue(fields.optional(0x01));
  const length = fields.optional(0x02);
  fields.end();
  return { isAuthority, pathLength: length && smallNumberOf(length) };
}

/** Without extendedKeyUsage, all purposes are permitted (RFC 5280, section 4.2.1.12). */
export function extendedKeyUsageOf(fields: CertificateFields): readonly string[] | undefined {
  const what = 'extendedKeyUsage';
  const extension = extensionOf(fields, EXTENDED_KEY_USAGE, what);
  return extension && parts(extension, what).map((purpose) => objectIdentifierOf(purpose, what));
}

export function subjectKeyIdentifierOf(fields: CertificateFields): Uint8Array | undefined {
  const extension = extensionOf(fields, SUBJECT_KEY_IDENTIFIER, 'key identifier');
  return extension && octetsOf(extension, 'key identifier');
}

export function authorityKeyIdentifierOf(fields: CertificateFields): Uint8Array | undefined {
  const extension = extensionOf(fields, AUTHORITY_KEY_IDENTIFIER, 'key identifier');
  return extension && fieldsOf(extension, 0x30, 'key identifier').optional(0x80)?.contents;
}

function isTrue(boolean: Element | undefined): boolean {
  return boolean !== undefined && boolean.contents[0] !== 0;
}

function smallNumberOf({ contents }: Element): number {
  const [first = 0x80] = contents;
  if (first >= 0x80) return 0; // A negative or empty value is invalid, so the strictest limit applies.
  return contents.length === 1 ? first : LONGEST_PATH;
}

export interface Extension {
  readonly type: string;
  readonly isCritical: boolean;
  readonly value: Uint8Array;
}

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
