/** The content that a JAR's signature covers: the contents of its files, and what the manifest says their digests are. */

import type { ByteSource } from '../../bytes/byte-source.ts';
import type { ZipEntry } from '../../zip/entry.ts';
import type { DigestEntries } from '../../zip/entry-digests.ts';
import { nodeDigestName } from './digest-names.ts';
import { type DigestAttribute, effectiveDigests, type ManifestSection } from './manifest.ts';

/** A file of the archive with what the manifest knows of it. */
export interface ListedEntry {
  readonly entry: ZipEntry;
  /** Usually one or none. */
  readonly sections: readonly ManifestSection[];
  /** The digests in them whose algorithm is known. */
  readonly digests: readonly KnownDigest[];
}

export interface KnownDigest extends DigestAttribute {
  /** As node:crypto calls the algorithm. */
  readonly nodeName: string;
}

/** `position`: of the entry in the list; `algorithm`: as node:crypto calls it. Base64. */
export type ContentDigest = (position: number, algorithm: string) => string;

export function listEntries(
  signable: readonly ZipEntry[],
  sections: ReadonlyMap<string, readonly ManifestSection[]>,
): readonly ListedEntry[] {
  return signable.map((entry) => {
    const own = sections.get(entry.name);
    return own === undefined ? { entry, sections: [], digests: [] } : { entry, sections: own, digests: known(own) };
  });
}

function known(sections: readonly ManifestSection[]): readonly KnownDigest[] {
  return effectiveDigests(sections).flatMap((digest) => {
    const nodeName = nodeDigestName(digest.algorithm);
    return nodeName === undefined ? [] : [{ ...digest, nodeName }];
  });
}

/**
 * Digests each entry by the algorithm given and by those that its sections have digests of, reading each entry once.
 * Throws `zip-entry-damaged`.
 */
export async function digestContents(
  source: ByteSource,
  listed: readonly ListedEntry[],
  digestEntries: DigestEntries,
  algorithm?: string,
): Promise<ContentDigest> {
  const groups = new Map<string, { algorithms: readonly string[]; entries: ZipEntry[] }>();
  const places = listed.map(({ entry, digests }) => {
    const algorithms = new Set(digests.map(({ nodeName }) => nodeName));
    if (algorithm !== undefined) algorithms.add(algorithm);
    const key = [...algorithms].sort().join();
    const group = groups.get(key) ?? { algorithms: [...algorithms], entries: [] };
    groups.set(key, group);
    return { key, position: group.entries.push(entry) - 1 };
  });
  const results = new Map<string, Awaited<ReturnType<DigestEntries>>>();
  for (const [key, { algorithms, entries }] of groups) {
    if (algorithms.length > 0) results.set(key, await digestEntries(source, entries, algorithms));
  }
  return (position, wanted) => {
    const place = places[position];
    const digests = place && results.get(place.key);
    if (digests === undefined) throw new TypeError('the entry was not digested by this algorithm');
    return digests.base64(place?.position ?? 0, wanted);
  };
}
