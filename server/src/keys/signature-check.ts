import { constants, type KeyObject, publicDecrypt } from 'node:crypto';
import type { DigestAlgorithm } from '../../../src/crypto/algorithms.ts';
import { reasonOf, ServerError } from '../errors.ts';

/** The bytes of a DigestInfo before the digest, in hexadecimal (RFC 8017, section 9.2, note 1). */
const PREFIX: Readonly<Record<DigestAlgorithm, string>> = {
  SHA1: '3021300906052b0e03021a05000414',
  SHA256: '3031300d060960864801650304020105000420',
  SHA384: '3041300d060960864801650304020205000430',
  SHA512: '3051300d060960864801650304020305000440',
};

export function digestInfo(algorithm: DigestAlgorithm, digest: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(PREFIX[algorithm], 'hex'), digest]);
}

/** A faulty device, a broken connection or another key with the same CKA_ID can cause a wrong signature. */
export function checkSignature(signed: Uint8Array, signature: Uint8Array, publicKey: KeyObject): void {
  const expectedLength = Math.ceil((publicKey.asymmetricKeyDetails?.modulusLength ?? 0) / 8);
  if (signature.length !== expectedLength)
    throw wrong(`the signature has ${signature.length} bytes instead of ${expectedLength}`);
  let decrypted: Buffer;
  try {
    decrypted = publicDecrypt({ key: publicKey, padding: constants.RSA_PKCS1_PADDING }, signature);
  } catch (error) {
    throw wrong(reasonOf(error), error);
  }
  if (!decrypted.equals(signed)) throw wrong('the signature does not match the digest');
}

function wrong(reason: string, cause?: unknown) {
  return new ServerError('hsm-signature-wrong', { reason }, cause);
}
