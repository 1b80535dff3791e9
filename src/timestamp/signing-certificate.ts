/** ESSCertID (RFC 2634, section 5.4) and ESSCertIDv2 (RFC 5035, section 3). */

import { createHash } from 'node:crypto';
import { DIGEST_NAME_BY_OID } from '../asn1/algorithm-identifiers.ts';
import { SIGNING_CERTIFICATE, SIGNING_CERTIFICATE_V2 } from '../asn1/object-identifiers.ts';
import { algorithmOf, type Element, fieldsOf, octetsOf, onlyPart, parts } from '../asn1/read.ts';
import { isSameBytes } from '../bytes/byte-source.ts';
import { readCertificateFields } from '../certificates/certificate.ts';
import { readName } from '../certificates/names.ts';
import { attributeValues, type ParsedAttribute } from '../cms/parse-signed-data.ts';

const SEQUENCE_TAG = 0x30;
const DIRECTORY_NAME_TAG = 0xa4;

/** At least one attribute must be present, and all must match the certificate. */
export function signingCertificateProblem(
  attributes: readonly ParsedAttribute[],
  certificate: Uint8Array,
): string | undefined {
  const first = attributeValues(attributes, SIGNING_CERTIFICATE);
  const second = attributeValues(attributes, SIGNING_CERTIFICATE_V2);
  if (first.length + second.length === 0) return "it does not identify its signer's certificate (ESSCertID)";
  if (first.length > 1 || second.length > 1) return "it identifies its signer's certificate several times";
  const identifiers = [
    ...first.map((value) => readIdentifier(value, 1)),
    ...second.map((value) => readIdentifier(value, 2)),
  ];
  return identifiers.every((identifier) => isNamed(identifier, certificate))
    ? undefined
    : 'it contains another certificate than the one that it identifies (ESSCertID)';
}

/** Reads the first identifier, which is that of the signer. Only version 2 names a digest algorithm. */
function readIdentifier(value: Element, version: 1 | 2) {
  const what = version === 1 ? 'ESSCertID' : 'ESSCertIDv2';
  const fields = fieldsOf(firstCertificate(value), SEQUENCE_TAG, what);
  const named = version === 1 ? undefined : fields.optional(SEQUENCE_TAG);
  const digest = octetsOf(fields.next(0x04, 'digest'), what);
  const issuerSerial = fields.optional(SEQUENCE_TAG);
  fields.end();
  const usual = version === 1 ? 'sha1' : 'sha256';
  const algorithm = named === undefined ? usual : DIGEST_NAME_BY_OID[algorithmOf(named, what)];
  return { algorithm, digest, issuerSerial };
}

function firstCertificate(value: Element): Element {
  const certificates = fieldsOf(value, SEQUENCE_TAG, 'SigningCertificate').next(SEQUENCE_TAG, 'certificates');
  return fieldsOf(certificates, SEQUENCE_TAG, 'SigningCertificate').next(SEQUENCE_TAG, 'first certificate');
}

type CertificateIdentifier = ReturnType<typeof readIdentifier>;

function isNamed({ algorithm, digest, issuerSerial }: CertificateIdentifier, certificate: Uint8Array): boolean {
  // Two certificates with the same MD5 can be created within hours.
  if (algorithm === undefined || algorithm === 'md5') return false;
  if (!isSameBytes(createHash(algorithm).update(certificate).digest(), digest)) return false;
  return issuerSerial === undefined || isIssuerSerialOf(issuerSerial, certificate);
}

function isIssuerSerialOf(issuerSerial: Element, certificate: Uint8Array): boolean {
  const fields = fieldsOf(issuerSerial, SEQUENCE_TAG, 'IssuerSerial');
  const names = parts(fields.next(SEQUENCE_TAG, 'issuer'), 'IssuerSerial');
  const serialNumber = fields.next(0x02, 'serial number').bytes;
  const own = readCertificateFields(certificate);
  const isIssuer = ({ bytes }: Element): boolean => readName(bytes).key === readName(own.issuer).key;
  return (
    isSameBytes(serialNumber, own.serialNumber) &&
    names.length === 1 &&
    names.every((name) => name.tag === DIRECTORY_NAME_TAG && isIssuer(onlyPart(name, 'issuer')))
  );
}
