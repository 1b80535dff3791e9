import { type KeyObject, X509Certificate } from 'node:crypto';
import { readElement } from '../asn1/read.ts';
import { CodesignError, orUndefined } from '../errors/codesign-error.ts';
import { type CertificateFields, readCertificateFields } from './certificate-fields.ts';
import { certificateErrors } from './errors.ts';
import { readName } from './names.ts';

/** Windows accepts no larger exponent. If it is as long as the modulus, a check takes a hundred times as long. */
const LARGEST_EXPONENT = 2n ** 32n;
/**
 * For DSA, in bits. FIPS 186-4 ends at 3072; OpenSSL permits 10,000, which takes 10 ms. For RSA, OpenSSL's own limit is
 * sufficient.
 */
const LARGEST_DSA_MODULUS = 4096;

export interface Certificate {
  readonly der: Uint8Array;
  /** Display name: common name of the subject, or the whole subject without one. */
  readonly name: string;
}

export interface ParsedCertificate extends Certificate {
  readonly x509: X509Certificate;
  readonly fields: CertificateFields;
  readonly issuerName: string;
  /** Comparable names: `issuerKey` of a certificate equals `subjectKey` of its issuer. */
  readonly subjectKey: string;
  readonly issuerKey: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/**
 * Reads the certificate at the start of `der`, and drops the bytes after it (OpenSSL's trust settings). Throws
 * `certificate-file-unreadable`.
 */
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

/** Comparisons with an Invalid Date are always false, so the certificate would never expire. */
function readDate(text: string): Date {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) throw new RangeError(`not a date: ${text}`);
  return date;
}

export function isSelfSigned(certificate: ParsedCertificate): boolean {
  return hasSigned(certificate, certificate);
}

/** Verifies the signature of `issuer`. Returns false for a kind of key that OpenSSL does not know. */
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

/** Returns undefined for keys of a kind that OpenSSL does not know, and for keys that are very slow to verify with. */
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
