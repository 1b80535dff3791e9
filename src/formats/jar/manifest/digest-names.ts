import type { DigestAlgorithm } from '../../../crypto/algorithms.ts';

export const JAVA_DIGEST_NAME: Readonly<Record<DigestAlgorithm, string>> = {
  SHA1: 'SHA1',
  SHA256: 'SHA-256',
  SHA384: 'SHA-384',
  SHA512: 'SHA-512',
};

/**
 * Maps Java's names of algorithms, in upper case, to those in node:crypto. Java does not support MD2 when it verifies
 * signatures.
 */
const NODE_NAMES: ReadonlyMap<string, string> = new Map([
  ['MD5', 'md5'],
  ['SHA', 'sha1'],
  ...['SHA1', 'SHA224', 'SHA256', 'SHA384', 'SHA512'].map((name) => [name, name.toLowerCase()] as const),
  ...['1', '224', '256', '384', '512'].map((bits) => [`SHA-${bits}`, `sha${bits}`] as const),
  ...['224', '256', '384', '512'].map((bits) => [`SHA3-${bits}`, `sha3-${bits}`] as const),
]);

/** Algorithms that no current verifier rejects. */
const STRONG: readonly string[] = ['sha256', 'sha384', 'sha512', 'sha3-256', 'sha3-384', 'sha3-512'];

export function nodeDigestName(javaName: string): string | undefined {
  // Because of the first lookup, no new string is created for each of perhaps a hundred thousand digests.
  return NODE_NAMES.get(javaName) ?? NODE_NAMES.get(javaName.toUpperCase());
}

/** True for algorithms that `jdk.jar.disabledAlgorithms` disables and that this program cannot compute. */
export function isAlwaysDisabled(javaName: string): boolean {
  return javaName.toUpperCase() === 'MD2';
}

export function isStrong(nodeName: string): boolean {
  return STRONG.includes(nodeName);
}

/**
 * How current Java versions treat a digest (`jdk.jar.disabledAlgorithms`). It ignores `weak` digests. It also ignores
 * `dated` digests, unless a timestamp proves that the signature was made before 2019.
 */
export type DigestStrength = 'weak' | 'dated' | 'strong';

export function strengthOf(nodeName: string): DigestStrength {
  if (nodeName === 'md5') return 'weak';
  return nodeName === 'sha1' ? 'dated' : 'strong';
}
