/** Checking an RSASSA-PKCS1-v1_5 signature (RFC 8017, section 8.2.2), the only kind the service makes. */

import { constants, type KeyObject, verify } from 'node:crypto';
import { type DigestAlgorithm, NODE_DIGEST_NAME } from './algorithms.ts';

/** Whether `signature` is the key's signature over `message`, digested with `algorithm`. */
export function isRsaSignature(
  publicKey: KeyObject,
  algorithm: DigestAlgorithm,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  const key = { key: publicKey, padding: constants.RSA_PKCS1_PADDING };
  return verify(NODE_DIGEST_NAME[algorithm], message, key, signature);
}
