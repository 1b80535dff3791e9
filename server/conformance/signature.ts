/** Checks the content of an RSASSA-PKCS1-v1_5 signature (RFC 8017, section 9.2). */

import { constants, type KeyObject, publicDecrypt, X509Certificate } from 'node:crypto';
import type { DigestAlgorithm } from '../../src/crypto/algorithms.ts';

/** The bytes of a DigestInfo before the digest, in hexadecimal (RFC 8017, section 9.2, note 1). */
const DIGEST_INFO_PREFIX: Readonly<Record<DigestAlgorithm, string>> = {
  SHA1: '3021300906052b0e03021a05000414',
  SHA256: '3031300d060960864801650304020105000420',
  SHA384: '3041300d060960864801650304020205000430',
  SHA512: '3051300d060960864801650304020305000440',
};

export function digestInfo(algorithm: DigestAlgorithm, digest: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(DIGEST_INFO_PREFIX[algorithm], 'hex'), digest]);
}

/** Describes the fault of the signature; undefined if the signature is correct. */
export function signatureFault(
  key: KeyObject,
  algorithm: DigestAlgorithm,
  digest: Uint8Array,
  signature: Uint8Array,
): string | undefined {
  let opened: Buffer;
  try {
    opened = publicDecrypt({ key, padding: constants.RSA_PKCS1_PADDING }, signature);
  } catch {
    return 'the certificate’s key finds no PKCS#1 v1.5 padding in the signature';
  }
  if (opened.equals(digestInfo(algorithm, digest))) return undefined;
  if (opened.equals(digest)) return 'the signature contains the digest without its DigestInfo';
  if (opened.subarray(-digest.length).equals(digest)) return `the signature’s DigestInfo is not that of ${algorithm}`;
  return 'the signature is over something else than the digest that was sent';
}

/** Returns the key of the first certificate that is not a CA certificate. */
export function signingKey(pem: string): KeyObject {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
  const certificates = blocks.map((block) => new X509Certificate(block));
  const leaf = certificates.find(({ ca }) => !ca) ?? certificates[0];
  if (leaf === undefined) throw new RangeError('it contains no PEM certificate');
  if (leaf.publicKey.asymmetricKeyType !== 'rsa') throw new RangeError('its key is not RSA');
  return leaf.publicKey;
}
