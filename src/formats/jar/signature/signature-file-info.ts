import { lazy } from '../../../bytes/reuse.ts';
import { byStrength, DIGEST_ALGORITHMS, type DigestAlgorithm, NODE_DIGEST_NAME } from '../../../crypto/algorithms.ts';
import type { ZipEntry } from '../../../zip/directory.ts';
import { isFileName, type JarLayout } from '../layout.ts';
import { listingOf } from '../listing.ts';
import { type Disagreement, findDisagreement, type ManifestCache, wholeDigests } from '../manifest/agreement.ts';
import { type DigestStrength, nodeDigestName, strengthOf } from '../manifest/digest-names.ts';
import type { Manifest } from '../manifest/manifest.ts';

type SignatureFileInfo = ReturnType<typeof infoOf>;
export type InfoOf = (signatureFile: Manifest) => SignatureFileInfo;

export function signatureFileInfo(layout: JarLayout, known: () => ManifestCache | undefined): InfoOf {
  const found = new WeakMap<Manifest, SignatureFileInfo>();
  return (signatureFile) => {
    const info = found.get(signatureFile) ?? infoOf(signatureFile, layout, known);
    found.set(signatureFile, info);
    return info;
  };
}

function infoOf(signatureFile: Manifest, layout: JarLayout, knownManifest: () => ManifestCache | undefined) {
  const manifest = layout.manifest?.parsed;
  const disagreementBy = (permits: (algorithm: string) => boolean): Disagreement | undefined => {
    const known = knownManifest();
    if (manifest === undefined || known === undefined) return undefined;
    return findDisagreement(signatureFile, manifest, { known, permits });
  };
  const agreesBy = (...strengths: readonly DigestStrength[]): boolean =>
    disagreementBy((algorithm) => strengths.includes(strengthOf(algorithm))) === undefined;
  return {
    disagreement: lazy(() => disagreementBy(() => true)),
    coverage: lazy(() => coverageOf(signatureFile, layout)),
    /** The strongest matching digest counts, because Java ignores digests with an algorithm that it rejects. */
    strength: lazy((): DigestStrength => {
      if (agreesBy('strong')) return 'strong';
      return agreesBy('strong', 'dated') ? 'dated' : 'weak';
    }),
    algorithms: lazy(() => fileAlgorithms(signatureFile)),
  };
}

/**
 * Of several digests of the same bytes, the longest counts. Returns undefined if the API does not support one of the
 * algorithms, such as MD5 and SHA-3.
 */
export function weakestAlgorithm(
  ofSigners: readonly (DigestAlgorithm | undefined)[],
  ofSignatureFile: readonly (readonly string[])[],
  ofManifest: readonly (readonly string[])[],
): DigestAlgorithm | undefined {
  if (ofSigners.length === 0) return undefined;
  const parts = [...ofSignatureFile, ...ofManifest].filter((names) => names.length > 0);
  return byStrength([...ofSigners, ...parts.map((names) => byStrength(names.flatMap(algorithmOf))?.at(-1))])?.[0];
}

export function fileAlgorithms(signatureFile: Manifest): readonly (readonly string[])[] {
  return [wholeDigests(signatureFile).map(({ algorithm }) => algorithm), ...sectionAlgorithms(signatureFile)];
}

export function sectionAlgorithms(manifest: Manifest): readonly (readonly string[])[] {
  const combinations = new Map<string, readonly string[]>();
  for (const { digests } of manifest.sections()) {
    const names = digests.map(({ algorithm }) => algorithm);
    combinations.set(names.join(), names);
  }
  return [...combinations.values()];
}

function algorithmOf(javaName: string): DigestAlgorithm[] {
  const nodeName = nodeDigestName(javaName);
  return DIGEST_ALGORITHMS.filter((algorithm) => NODE_DIGEST_NAME[algorithm] === nodeName);
}

export type Coverage = ReturnType<typeof coverageOf>;

export function coverageOf(signatureFile: Manifest, { archive, signable }: JarLayout) {
  const isCovered = new Uint8Array(archive.entries.length);
  const removed = { count: 0, first: '' };
  for (const { name } of signatureFile.sections()) {
    const entry = archive.byName.get(name);
    if (entry !== undefined) isCovered[entry.index] = 1;
    else if (isFileName(name)) {
      if (removed.count === 0) removed.first = name;
      removed.count++;
    }
  }
  const covers = ({ index }: ZipEntry): boolean => isCovered[index] === 1;
  const uncovered = listingOf(signable, (entry) => !covers(entry));
  return { covers, uncovered, removed };
}
