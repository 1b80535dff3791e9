/** RSA signatures of PKCS#1 v1.5 padding round the bare SHA-1 value, without DigestInfo. */

import { constants, createHash, publicDecrypt, X509Certificate } from 'node:crypto';
import { usableKeyOf } from '../certificates/public-key.ts';
import { DIGEST_OID, RSA_ENCRYPTION, SHA1_WITH_RSA } from './object-identifiers.ts';
import type { SignerInfo } from './parse-signed-data.ts';

/** Block type and at least eight 0xff, in front of the zero that ends the padding (RFC 8017, 9.2). */
const LEAST_PADDING = 10;
const DIGEST_LENGTH = 20;

/**
 * Whether the signature value is the whole block `00 01 ff … ff 00 SHA-1(signedBytes)` under the certificate's RSA key.
 * False for any other digest algorithm, any other padding and any byte more or less. Never throws.
 */
export function isBareSha1(
  { digestAlgorithm, signatureAlgorithm, signature }: SignerInfo,
  signedBytes: Uint8Array,
  certificate: Uint8Array,
): boolean {
  const isPkcs1 = signatureAlgorithm === RSA_ENCRYPTION || signatureAlgorithm === SHA1_WITH_RSA;
  if (digestAlgorithm !== DIGEST_OID.SHA1 || !isPkcs1) return false;
  try {
    const key = usableKeyOf(new X509Certificate(certificate));
    if (key?.asymmetricKeyType !== 'rsa') return false;
    // Compared as a whole, so that no reading of the padding can be lenient.
    const block = publicDecrypt({ key, padding: constants.RSA_NO_PADDING }, signature);
    if (signature.length !== block.length || block.length < LEAST_PADDING + 1 + DIGEST_LENGTH) return false;
    const padding = Buffer.alloc(block.length - 1 - DIGEST_LENGTH, 0xff);
    padding.writeUInt16BE(0x0001);
    const digest = createHash('sha1').update(signedBytes).digest();
    return block.equals(Buffer.concat([padding, Buffer.of(0), digest]));
  } catch {
    return false; // OpenSSL cannot read the certificate, or the value is not below the modulus
  }
}
