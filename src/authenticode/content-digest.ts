/** The digest algorithms that contents are held to: those of today, and the one that the oldest signatures have. */

import { getHashes } from 'node:crypto';
import { digestAlgorithmOf } from '../cms/object-identifiers.ts';
import type { DigestAlgorithm } from '../crypto/algorithms.ts';
import type { ContentDigest } from '../crypto/content.ts';

const MD5 = '1.2.840.113549.2.5';

/** Of a digest's object identifier; undefined for those that nothing is digested with, MD5 too where OpenSSL has none (FIPS). */
export function contentDigestOf(oid: string): ContentDigest | undefined {
  if (oid === MD5) return getHashes().includes('md5') ? 'MD5' : undefined;
  return digestAlgorithmOf(oid);
}

/** Whether signatures are made with it still. */
export function isSigningAlgorithm(algorithm: ContentDigest | undefined): algorithm is DigestAlgorithm {
  return algorithm !== undefined && algorithm !== 'MD5';
}
