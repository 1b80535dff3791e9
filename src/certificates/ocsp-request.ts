/** Asking an OCSP responder about one certificate (RFC 6960, 4.1, as RFC 5019 narrows it: SHA-1, no nonce, no signature). */

import { createHash } from 'node:crypto';
import { fieldsOf, readDer } from '../asn1/read.ts';
import { nullValue, objectIdentifier, octetString, sequence } from '../asn1/write.ts';
import type { ParsedCertificate } from './parsed-certificate.ts';

/** What OCSP names a certificate by. SHA-1 protects nothing here, and is what every responder knows. */
const SHA1 = '1.3.14.3.2.26';

/** The OCSPRequest, DER. */
export function buildOcspRequest(certificate: ParsedCertificate, issuer: ParsedCertificate): Uint8Array {
  const { nameDigest, keyDigest } = issuerDigests(certificate, issuer, 'sha1');
  const algorithm = sequence(objectIdentifier(SHA1), nullValue());
  const id = sequence(algorithm, octetString(nameDigest), octetString(keyDigest), certificate.fields.serialNumber);
  return sequence(sequence(sequence(sequence(id))));
}

/** Digests of the issuer's name, as the certificate has it, and of the issuer's key. */
export function issuerDigests(
  certificate: ParsedCertificate,
  issuer: ParsedCertificate,
  digestName: string,
): { readonly nameDigest: Uint8Array; readonly keyDigest: Uint8Array } {
  return {
    nameDigest: createHash(digestName).update(certificate.fields.issuer).digest(),
    keyDigest: createHash(digestName).update(keyBitsOf(issuer)).digest(),
  };
}

/** The contents of the BIT STRING in the SubjectPublicKeyInfo, without its octet of unused bits. */
export function keyBitsOf({ fields }: ParsedCertificate): Uint8Array {
  const info = fieldsOf(readDer(fields.publicKeyInfo, 'public key'), 0x30, 'public key');
  info.next(0x30, 'algorithm');
  return info.next(0x03, 'key').contents.subarray(1);
}
