/** Whether a signature file speaks of a manifest as it is (JAR File Specification, "Signature Validation"). */

import { hash } from 'node:crypto';
import { onceOf } from '../../../bytes/reuse.ts';
import { isAlwaysDisabled, nodeDigestName } from './digest-names.ts';
import type { DigestAttribute, Manifest, SectionRange } from './manifest.ts';

const OF_MANIFEST = '-digest-manifest';
const OF_MAIN_ATTRIBUTES = '-digest-manifest-main-attributes';

/** What of a manifest is not what was signed; the first such part. */
export interface Disagreement {
  /** `algorithms`: Java accepts none of those by which the signature file has digests of the manifest. */
  readonly part: 'version' | 'algorithms' | 'main attributes' | 'section';
  /** Of the section's entry. */
  readonly name?: string;
}

export interface AgreementRules {
  /** Whether digests by an algorithm (as node:crypto calls it) count. By default all that are known do. */
  readonly permits?: (algorithm: string) => boolean;
  /** For callers that need one manifest several times. */
  readonly known?: KnownManifest | undefined;
}

export type KnownManifest = ReturnType<typeof knowManifest>;

export interface NamedSections {
  readonly name: string;
  /** Of its section, or of all of them. */
  readonly ranges: readonly SectionRange[];
}

/** The sections of each name. In numbers, since there may be a hundred thousand. */
export function sectionsByName(manifest: Manifest) {
  /** Start and end of each section. */
  const places: number[] = [];
  /** Of a name's section, or of all of them. */
  const indexes = new Map<string, number | number[]>();
  for (const { name, start, end } of manifest.sections()) {
    const index = places.push(start, end) - 2;
    const known = indexes.get(name);
    if (typeof known === 'object') known.push(index);
    else indexes.set(name, known === undefined ? index : [known, index]);
  }
  const rangeAt = (index: number): SectionRange => ({ start: places[index] ?? 0, end: places[index + 1] ?? 0 });
  /** In the file's order, those that touch as one. */
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
    /** In the order of their first sections. */
    *entries(): Generator<NamedSections> {
      for (const [name, found] of indexes) yield { name, ranges: rangesAt(found) };
    },
  };
}

/** What is found out of a manifest once, however many signatures speak of it, and however often one of them does. */
export function knowManifest(manifest: Manifest) {
  const digests = new Map<string, string>();
  return {
    sections: onceOf(() => sectionsByName(manifest)),
    /** Base64. `part`: what it is of, in any words that no other part has. */
    digestOf(part: string, algorithm: string, bytes: () => readonly Buffer[]): string {
      const key = `${algorithm} ${part}`;
      const digest = digests.get(key) ?? sectionDigest(algorithm, bytes());
      digests.set(key, digest);
      return digest;
    },
  };
}

/** Whether nothing of the manifest is other than what was signed. */
export function agrees(signatureFile: Manifest, manifest: Manifest): boolean {
  return findDisagreement(signatureFile, manifest) === undefined;
}

/**
 * Java's rule: the digest of the whole manifest, or else that of its main attributes and every one of its sections'.
 * Entries that were added later leave a signature as good as it was. Undefined when it agrees.
 */
export function findDisagreement(
  signatureFile: Manifest,
  manifest: Manifest,
  { permits = () => true, known = knowManifest(manifest) }: AgreementRules = {},
): Disagreement | undefined {
  // Java takes a file of any other version for no signature.
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
  // Java rejects a file whose digests of the whole manifest are by disabled algorithms alone, whatever its sections say.
  const allOfWhole = allMainDigests(signatureFile, OF_MANIFEST);
  const isDisabled = (digest: MainDigest): boolean =>
    isAlwaysDisabled(digest.algorithm) || (digest.nodeName !== undefined && !counts(digest));
  if (allOfWhole.some(isDisabled) && !allOfWhole.some(counts)) return { part: 'algorithms' };
  // Of the main attributes, an algorithm that Java does not know is not enough either.
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

/** Its digests of the whole manifest, by algorithms that are known. */
export function wholeDigests(signatureFile: Manifest): readonly MainDigest[] {
  return allMainDigests(signatureFile, OF_MANIFEST).filter(({ nodeName }) => nodeName !== undefined);
}

/** The entries that the signature is about. */
export function coveredNames(signatureFile: Manifest): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { name } of signatureFile.sections()) names.add(name);
  return names;
}

/** `algorithm`: in lower case, as attributes are found. */
export type MainDigest = Pick<DigestAttribute, 'algorithm' | 'nodeName'> & {
  /** Base64, as written. */
  readonly value: string;
};

/** Attributes such as `SHA-256-Digest-Manifest`, of unknown algorithms too. */
function allMainDigests({ main }: Manifest, suffix: string): readonly MainDigest[] {
  return [...main.attributes].flatMap(([name, value]) => {
    if (!name.endsWith(suffix)) return [];
    const algorithm = name.slice(0, -suffix.length);
    return [{ algorithm, nodeName: nodeDigestName(algorithm), value }];
  });
}

/** Base64. `algorithm`: as node:crypto calls it. */
export function sectionDigest(algorithm: string, parts: readonly Buffer[]): string {
  const [only] = parts;
  return hash(algorithm, parts.length === 1 && only !== undefined ? only : Buffer.concat(parts), 'base64');
}
