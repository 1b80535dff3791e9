/** Remote Code Signing API, section 2.2. */

export const DIGEST_ALGORITHMS = ['SHA1', 'SHA256', 'SHA384', 'SHA512'] as const;

export type DigestAlgorithm = (typeof DIGEST_ALGORITHMS)[number];

export const DIGEST_LENGTH: Readonly<Record<DigestAlgorithm, number>> = {
  SHA1: 20,
  SHA256: 32,
  SHA384: 48,
  SHA512: 64,
};

export const NODE_DIGEST_NAME: Readonly<Record<DigestAlgorithm, string>> = {
  SHA1: 'sha1',
  SHA256: 'sha256',
  SHA384: 'sha384',
  SHA512: 'sha512',
};
