import { createHash } from 'node:crypto';
import { SIGNING_CERTIFICATE_V2 } from '../asn1/object-identifiers.ts';
import { octetString, sequence } from '../asn1/write.ts';
import type { Attribute } from './build-signed-data.ts';

/**
 * The signed attribute signing-certificate-v2 (RFC 5035, 3): it binds the signature to the signer's certificate by its
 * SHA-256, the default digest, which DER leaves out. Without issuerSerial, which ETSI EN 319 122-1, 5.2.2.3 leaves out too.
 */
export function signingCertificate(certificate: Uint8Array): Attribute {
  const digest = createHash('sha256').update(certificate).digest();
  return { type: SIGNING_CERTIFICATE_V2, value: sequence(sequence(sequence(octetString(digest)))) };
}
