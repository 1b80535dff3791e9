import type { DigestAlgorithm } from '../../../crypto/algorithms.ts';

export const JAVA_DIGEST_NAME: Readonly<Record<DigestAlgorithm, string>> = {
  SHA1: 'SHA1',
  SHA256: 'SHA-256',
  SHA384: 'SHA-384',
  SHA512: 'SHA-512',
};

/** Keyed by Java's names in upper case. Java does not verify MD2. */
const NODE_NAMES: ReadonlyMap<string, string> = new Map([
  ['MD5', 'md5'],
  ['SHA', 'sha1'],
  ...['SHA1', 'SHA224', 'SHA256', 'SHA384', 'SHA512'].map((name) => [name, name.toLowerCase()] as const),
  ...['1', '224', '256', '384', '512'].map((bits) => [`SHA-${bits}`, `sha${bits}`] as const),
  ...['224', '256', '384', '512'].map((bits) => [`SHA3-${bits}`, `sha3-${bits}`] as const),
]);

/** Algorithms that every current verifier accepts. */
const STRONG: readonly string[] = ['sha256', 'sha384', 'sha512', 'sha3-256', 'sha3-384', 'sha3-512'];

export function nodeDigestName(javaName: string): string | undefined {
  // The first lookup creates no string, because there may be a hundred thousand digests.
  return NODE_NAMES.get(javaName) ?? NODE_NAMES.get(javaName.toUpperCase());
}

/** `jdk.jar.disabledAlgorithms` disables MD2, and this program cannot compute MD2. */
export function isAlwaysDisabled(javaName: string): boolean {
  return javaName.toUpperCase() === 'MD2';
}

export function isStrong(nodeName: string): boolean {
  return STRONG.includes(nodeName);
}

/**
 * Java ignores `weak` digests (`jdk.jar.disabledAlgorithms`), and `dated` ones unless a timestamp proves that the
 * signature was made before 2019.
 */
export type DigestStrength = 'weak' | 'dated' | 'strong';

export function strengthOf(nodeName: string): DigestStrength {
  if (nodeName === 'md5') return 'weak';
  return nodeName === 'sha1' ? 'dated' : 'strong';
}
