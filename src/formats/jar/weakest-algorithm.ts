/** What a JAR's signature rests on: of all the digests between a file's contents and the signature value, the shortest. */

import { DIGEST_ALGORITHMS, DIGEST_LENGTH, type DigestAlgorithm, NODE_DIGEST_NAME } from '../../crypto/algorithms.ts';
import { wholeDigests } from './agreement.ts';
import { nodeDigestName } from './digest-names.ts';
import type { Manifest } from './manifest.ts';

/**
 * Of the block's signers, of the signature file and, entry by entry, of the manifest, where the longest of several counts. Undefined
 * when one of them is none of the API's (MD5, SHA-3).
 */
export function weakestAlgorithm(
  ofSigners: readonly (DigestAlgorithm | undefined)[],
  ofSignatureFile: readonly (readonly string[])[],
  ofManifest: readonly (readonly string[])[],
): DigestAlgorithm | undefined {
  const parts = [...ofSignatureFile, ...ofManifest];
  const [first, ...others] = ofSigners;
  return [...others, ...parts.filter((names) => names.length > 0).map(longest)].reduce(shorter, first);
}

/** Those of a signature file: of the whole manifest, and of each of its sections. */
export function fileAlgorithms(signatureFile: Manifest): readonly (readonly string[])[] {
  return [wholeDigests(signatureFile).map(({ algorithm }) => algorithm), ...sectionAlgorithms(signatureFile)];
}

/** Those of each section, each combination once: nearly always there is one. */
export function sectionAlgorithms(manifest: Manifest): readonly (readonly string[])[] {
  const combinations = new Map<string, readonly string[]>();
  for (const { digests } of manifest.sections()) {
    const names = digests.map(({ algorithm }) => algorithm);
    combinations.set(names.join(), names);
  }
  return [...combinations.values()];
}

/** `javaNames`: as they are written. */
function longest(javaNames: readonly string[]): DigestAlgorithm | undefined {
  const known = javaNames.flatMap((name) => algorithmOf(name) ?? []);
  return known.reduce<DigestAlgorithm | undefined>(
    (best, one) => (best === undefined || DIGEST_LENGTH[one] > DIGEST_LENGTH[best] ? one : best),
    undefined,
  );
}

function shorter(a: DigestAlgorithm | undefined, b: DigestAlgorithm | undefined): DigestAlgorithm | undefined {
  if (a === undefined || b === undefined) return undefined;
  return DIGEST_LENGTH[b] < DIGEST_LENGTH[a] ? b : a;
}

function algorithmOf(javaName: string): DigestAlgorithm | undefined {
  const nodeName = nodeDigestName(javaName);
  return DIGEST_ALGORITHMS.find((algorithm) => NODE_DIGEST_NAME[algorithm] === nodeName);
}
