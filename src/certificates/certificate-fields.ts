/** The fields of an X.509 certificate (RFC 5280, 4.1) as the bytes they are encoded in: what node:crypto does not tell. */

import { type Element, fieldsOf, objectIdentifierOf, octetsOf, parts, readDer } from '../asn1/read.ts';

export interface CertificateFields {
  /** The whole INTEGER. */
  readonly serialNumber: Uint8Array;
  /** The whole Name. */
  readonly issuer: Uint8Array;
  /** The whole Name. */
  readonly subject: Uint8Array;
  /** Dotted object identifier → what the extension's OCTET STRING holds. */
  readonly extensions: ReadonlyMap<string, Uint8Array>;
}

const KEY_USAGE = '2.5.29.15';
const EXTENDED_KEY_USAGE = '2.5.29.37';
const SUBJECT_KEY_IDENTIFIER = '2.5.29.14';
const DIGITAL_SIGNATURE = 0x80;

/** Reads a DER certificate. Throws `asn1-malformed`. */
export function readCertificateFields(der: Uint8Array): CertificateFields {
  const what = 'certificate';
  const certificate = fieldsOf(readDer(der, what), 0x30, what);
  const body = fieldsOf(certificate.next(0x30, 'body'), 0x30, what);
  body.optional(0xa0); // version
  const serialNumber = body.next(0x02, 'serial number').bytes;
  body.next(0x30, 'signature algorithm');
  const issuer = body.next(0x30, 'issuer').bytes;
  body.next(0x30, 'validity');
  const subject = body.next(0x30, 'subject').bytes;
  body.next(0x30, 'public key');
  body.optional(0x81); // issuer's unique identifier
  body.optional(0x82); // subject's unique identifier
  const extensions = body.optional(0xa3);
  body.end();
  return { serialNumber, issuer, subject, extensions: readExtensions(extensions) };
}

/** Whether keyUsage lets the key sign; without the extension it may (RFC 5280, 4.2.1.3). */
export function allowsDigitalSignature({ extensions }: CertificateFields): boolean {
  const extension = extensions.get(KEY_USAGE);
  if (extension === undefined) return true;
  const bits = readDer(extension, 'keyUsage').contents;
  return ((bits[1] ?? 0) & DIGITAL_SIGNATURE) !== 0;
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

function readExtensions(tagged: Element | undefined): ReadonlyMap<string, Uint8Array> {
  const found = new Map<string, Uint8Array>();
  const [list] = tagged === undefined ? [] : parts(tagged, 'extensions');
  for (const extension of list === undefined ? [] : parts(list, 'extensions')) {
    const fields = fieldsOf(extension, 0x30, 'extension');
    const type = objectIdentifierOf(fields.next(0x06, 'type'), 'extension type');
    fields.optional(0x01); // critical
    found.set(type, octetsOf(fields.any('value'), 'extension value'));
  }
  return found;
}
