/** Compares a signature file with the manifest (JAR File Specification, "Signature Validation"). */

import { hash } from 'node:crypto';
import { lazy } from '../../../bytes/reuse.ts';
import { isAlwaysDisabled, nodeDigestName } from './digest-names.ts';
import type { DigestAttribute, Manifest, SectionRange } from './manifest.ts';

const OF_MANIFEST = '-digest-manifest';
const OF_MAIN_ATTRIBUTES = '-digest-manifest-main-attributes';

export interface Disagreement {
  /** `algorithms` means that Java rejects all algorithms of the manifest's digests. */
  readonly part: 'version' | 'algorithms' | 'main attributes' | 'section';
  readonly name?: string;
}

export interface AgreementRules {
  /** `algorithm` is a name in node:crypto. The default permits every known algorithm. */
  readonly permits?: (algorithm: string) => boolean;
  readonly known?: ManifestCache | undefined;
}

export type ManifestCache = ReturnType<typeof createManifestCache>;

export interface NamedSections {
  readonly name: string;
  readonly ranges: readonly SectionRange[];
}

/** Stores offsets as numbers, because a hundred thousand objects would take too much memory. */
export function sectionsByName(manifest: Manifest) {
  const places: number[] = [];
  const indexes = new Map<string, number | number[]>();
  for (const { name, start, end } of manifest.sections()) {
    const index = places.push(start, end) - 2;
    const known = indexes.get(name);
    if (typeof known === 'object') known.push(index);
    else indexes.set(name, known === undefined ? index : [known, index]);
  }
  const rangeAt = (index: number): SectionRange => ({ start: places[index] ?? 0, end: places[index + 1] ?? 0 });
  const rangesAt = (found: number | readonly number[]): readonly SectionRange[] => {
    if (typeof found === 'number') return [rangeAt(found)];
    const ranges: SectionRange[] = [];
    for (const range of found.map(rangeAt)) {
      const last = ranges.at(-1);
      if (last?.end === range.start) ranges[ranges.length - 1] = { start: last.start, end: range.end };
      else ranges.push(range);
    }
    return ranges;
  };
  return {
    has: (name: string) => indexes.has(name),
    rangesOf: (name: string) => rangesAt(indexes.get(name) ?? []),
    *entries(): Generator<NamedSections> {
      for (const [name, found] of indexes) yield { name, ranges: rangesAt(found) };
    },
  };
}

export function createManifestCache(manifest: Manifest) {
  const digests = new Map<string, string>();
  return {
    sections: lazy(() => sectionsByName(manifest)),
    /** Returns base64. `part` is the cache key of the digested bytes. */
    digestOf(part: string, algorithm: string, bytes: () => readonly Buffer[]): string {
      const key = `${algorithm} ${part}`;
      const digest = digests.get(key) ?? sectionDigest(algorithm, bytes());
      digests.set(key, digest);
      return digest;
    },
  };
}

/**
 * As in Java, either the digest of the whole manifest matches, or the digests of its main attributes and of all listed
 * sections. Files added later do not break a signature.
 */
export function findDisagreement(
  signatureFile: Manifest,
  manifest: Manifest,
  { permits = () => true, known = createManifestCache(manifest) }: AgreementRules = {},
): Disagreement | undefined {
  // Java ignores other versions.
  if (signatureFile.main.attributes.get('signature-version') !== '1.0') return { part: 'version' };
  const counts = ({ nodeName }: Pick<DigestAttribute, 'nodeName'>): boolean =>
    nodeName !== undefined && permits(nodeName);
  const isOf = ({ nodeName = '', value }: MainDigest, part: string, ranges: () => readonly SectionRange[]): boolean => {
    const bytes = () => ranges().map(({ start, end }) => manifest.bytes.subarray(start, end));
    return known.digestOf(part, nodeName, bytes) === value;
  };
  const isOfSection = (digest: DigestAttribute, name: string): boolean => {
    const value = signatureFile.valueOf(digest);
    return isOf({ ...digest, value }, `section ${name}`, () => byName.rangesOf(name));
  };
  const whole = { start: 0, end: manifest.bytes.length };
  if (wholeDigests(signatureFile).some((digest) => counts(digest) && isOf(digest, 'whole', () => [whole])))
    return undefined;
  // If all digests of the whole manifest are disabled, Java rejects the signature file, even if the sections match.
  const allOfWhole = allMainDigests(signatureFile, OF_MANIFEST);
  const isDisabled = (digest: MainDigest): boolean =>
    isAlwaysDisabled(digest.algorithm) || (digest.nodeName !== undefined && !counts(digest));
  if (allOfWhole.some(isDisabled) && !allOfWhole.some(counts)) return { part: 'algorithms' };
  // Java must support the algorithm of the main attributes too.
  const allOfMain = allMainDigests(signatureFile, OF_MAIN_ATTRIBUTES);
  const ofMain = allOfMain.filter(counts);
  if (allOfMain.length > 0 && ofMain.length === 0) return { part: 'algorithms' };
  if (!ofMain.every((digest) => isOf(digest, 'main', () => [manifest.main]))) return { part: 'main attributes' };
  const byName = known.sections();
  for (const { name, digests } of signatureFile.sections()) {
    const counted = digests.filter(counts);
    const isSigned = byName.has(name) && counted.length > 0;
    if (!isSigned || !counted.every((digest) => isOfSection(digest, name))) return { part: 'section', name };
  }
  return undefined;
}

export function wholeDigests(signatureFile: Manifest): readonly MainDigest[] {
  return allMainDigests(signatureFile, OF_MANIFEST).filter(({ nodeName }) => nodeName !== undefined);
}

export type MainDigest = Pick<DigestAttribute, 'algorithm' | 'nodeName'> & {
  readonly value: string;
};

/** Returns attributes such as `SHA-256-Digest-Manifest`, including those of unknown algorithms. */
function allMainDigests({ main }: Manifest, suffix: string): readonly MainDigest[] {
  return [...main.attributes].flatMap(([name, value]) => {
    if (!name.endsWith(suffix)) return [];
    const algorithm = name.slice(0, -suffix.length);
    return [{ algorithm, nodeName: nodeDigestName(algorithm), value }];
  });
}

export function sectionDigest(algorithm: string, parts: readonly Buffer[]): string {
  const [only] = parts;
  return hash(algorithm, parts.length === 1 && only !== undefined ? only : Buffer.concat(parts), 'base64');
}
