import type { DigestAlgorithm } from '../../../crypto/algorithms.ts';

/** What this program writes. */
export const JAVA_DIGEST_NAME: Readonly<Record<DigestAlgorithm, string>> = {
  SHA1: 'SHA1',
  SHA256: 'SHA-256',
  SHA384: 'SHA-384',
  SHA512: 'SHA-512',
};

/** Java's names in upper case, as attributes are compared → what node:crypto calls it. Its verifier leaves out MD2. */
const NODE_NAMES: ReadonlyMap<string, string> = new Map([
  ['MD5', 'md5'],
  ['SHA', 'sha1'],
  ...['SHA1', 'SHA224', 'SHA256', 'SHA384', 'SHA512'].map((name) => [name, name.toLowerCase()] as const),
  ...['1', '224', '256', '384', '512'].map((bits) => [`SHA-${bits}`, `sha${bits}`] as const),
  ...['224', '256', '384', '512'].map((bits) => [`SHA3-${bits}`, `sha3-${bits}`] as const),
]);

/** What no verifier of today refuses. */
const STRONG: readonly string[] = ['sha256', 'sha384', 'sha512', 'sha3-256', 'sha3-384', 'sha3-512'];

/** Of an algorithm as a manifest has it; undefined when it is not known. */
export function nodeDigestName(javaName: string): string | undefined {
  // As nearly always written; the other way makes a string for each of perhaps a hundred thousand.
  return NODE_NAMES.get(javaName) ?? NODE_NAMES.get(javaName.toUpperCase());
}

/** Of an algorithm as a manifest has it: disabled by `jdk.jar.disabledAlgorithms`, and not one that this program computes. */
export function isAlwaysDisabled(javaName: string): boolean {
  return javaName.toUpperCase() === 'MD2';
}

export function isStrong(nodeName: string): boolean {
  return STRONG.includes(nodeName);
}

/**
 * What Java makes of a digest today (`jdk.jar.disabledAlgorithms`): `weak` it takes for none, `dated` too unless a timestamp
 * says that the signature is from before 2019.
 */
export type DigestStrength = 'weak' | 'dated' | 'strong';

/** Of an algorithm as node:crypto calls it. */
export function strengthOf(nodeName: string): DigestStrength {
  if (nodeName === 'md5') return 'weak';
  return nodeName === 'sha1' ? 'dated' : 'strong';
}
