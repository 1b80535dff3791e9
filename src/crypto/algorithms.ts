/** The digest algorithms of the Remote Code Signing API, section 2.2. */

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

/** Sorts by the length of digests. Returns undefined if an algorithm is unknown. */
export function byStrength(
  algorithms: readonly (DigestAlgorithm | undefined)[],
): readonly DigestAlgorithm[] | undefined {
  const known = algorithms.filter((algorithm) => algorithm !== undefined);
  if (known.length < algorithms.length) return undefined;
  return known.sort((a, b) => DIGEST_LENGTH[a] - DIGEST_LENGTH[b]);
}
