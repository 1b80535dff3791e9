import { createHash } from 'node:crypto';
import { SIGNING_CERTIFICATE_V2 } from '../asn1/object-identifiers.ts';
import { contextConstructed, octetString, sequence } from '../asn1/write.ts';
import { readCertificateFields } from '../certificates/certificate-fields.ts';
import type { Attribute } from './build-signed-data.ts';

/**
 * The signed attribute signing-certificate-v2 (RFC 5035, 3), which binds the signature to the signer's certificate by a
 * SHA-256 digest. SHA-256 is the default, which DER omits. NuGet requires issuerSerial; ETSI EN 319 122-1, 5.2.2.3
 * omits it.
 */
export function signingCertificate(certificate: Uint8Array, { withIssuerSerial = false } = {}): Attribute {
  const digest = octetString(createHash('sha256').update(certificate).digest());
  const { issuer, serialNumber } = readCertificateFields(certificate);
  const issuerSerial = sequence(sequence(contextConstructed(4, issuer)), serialNumber);
  const identifier = withIssuerSerial ? sequence(digest, issuerSerial) : sequence(digest);
  return { type: SIGNING_CERTIFICATE_V2, value: sequence(sequence(identifier)) };
}
