/** The DER structure that RSASSA-PKCS1-v1_5 pads and signs: DigestInfo (RFC 8017, section 9.2, note 1). */

import type { DigestAlgorithm } from '../../../src/crypto/algorithms.ts';

/** Everything of a DigestInfo that stands before the digest, in hexadecimal. */
const PREFIX: Readonly<Record<DigestAlgorithm, string>> = {
  SHA1: '3021300906052b0e03021a05000414',
  SHA256: '3031300d060960864801650304020105000420',
  SHA384: '3041300d060960864801650304020205000430',
  SHA512: '3051300d060960864801650304020305000440',
};

/** @param digest raw bytes, as long as the algorithm makes them */
export function digestInfo(algorithm: DigestAlgorithm, digest: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(PREFIX[algorithm], 'hex'), digest]);
}
