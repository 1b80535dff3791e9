/** The content that a JAR's signature covers: the contents of its files, and what the manifest says their digests are. */

import type { ByteSource } from '../../bytes/byte-source.ts';
import type { ZipEntry } from '../../zip/directory.ts';
import type { DigestEntries, EntryDigests } from '../../zip/entry-digests.ts';
import { jarErrors } from './errors.ts';
import { nodeDigestName } from './manifest/digest-names.ts';
import type { DigestAttribute, Manifest } from './manifest/manifest.ts';

/** A file of the archive with what the manifest knows of it. */
export interface ListedEntry {
  readonly entry: ZipEntry;
  /** Where further attributes of its section go; undefined when it has no section. */
  readonly sectionEnd: number | undefined;
  /** Those that its section, or all of them together, have of algorithms that are known. */
  readonly digests: readonly KnownDigest[];
}

export interface KnownDigest extends DigestAttribute {
  /** As node:crypto calls the algorithm. */
  readonly nodeName: string;
}

/** `position`: of the entry in the list; `algorithm`: as node:crypto calls it. Base64. */
export type ContentDigest = (position: number, algorithm: string) => string;

const NONE: readonly KnownDigest[] = [];

/** In the order of the entries given. */
export function listEntries(signable: readonly ZipEntry[], manifest: Manifest | undefined): readonly ListedEntry[] {
  const listed = signable.map((entry) => ({ entry, sectionEnd: undefined as number | undefined, digests: NONE }));
  if (manifest === undefined) return listed;
  const positions = new Map(signable.map(({ name }, position) => [name, position]));
  const found = new Map<number, KnownDigest[]>();
  for (const { name, contentEnd, digests } of manifest.sections()) {
    const position = positions.get(name);
    const own = position === undefined ? undefined : listed[position];
    if (position === undefined || own === undefined) continue;
    const all = found.get(position) ?? [];
    found.set(position, all);
    for (const digest of known(digests)) all.push(digest);
    own.digests = all;
    own.sectionEnd = contentEnd;
  }
  return listed;
}

/**
 * Digests each entry by `algorithm` and by those that its section has digests of. Throws `zip-entry-damaged`, and
 * `jar-too-many-digests` where `verify` would not check all of the digests.
 */
export async function digestListed(
  source: ByteSource,
  listed: readonly ListedEntry[],
  algorithm: string,
  digestEntries: DigestEntries,
): Promise<ContentDigest> {
  const entries = listed.map(({ entry }) => entry);
  const intern = internLists();
  const algorithmsAt = (position: number): readonly string[] => {
    let names = intern([], algorithm);
    for (const { nodeName } of listed[position]?.digests ?? NONE) names = intern(names, nodeName);
    return names;
  };
  const algorithms = entries.map((_, position) => algorithmsAt(position));
  const { reducedCount } = withinDigestLimit(entries, algorithms);
  if (reducedCount > 0) throw jarErrors('jar-too-many-digests', { count: reducedCount });
  return digestContents(source, entries, (position) => algorithms[position] ?? [], digestEntries);
}

function known(digests: readonly DigestAttribute[]): readonly KnownDigest[] {
  return digests.flatMap((digest) => {
    const nodeName = nodeDigestName(digest.algorithm);
    return nodeName === undefined ? [] : [{ ...digest, nodeName }];
  });
}

/**
 * Reads each entry once, whatever the number of its algorithms. Usually all entries have the same: `algorithmsAt` gives
 * the same list, not an equal one, for those that do.
 */
export async function digestContents(
  source: ByteSource,
  entries: readonly ZipEntry[],
  algorithmsAt: (position: number) => readonly string[],
  digestEntries: DigestEntries,
): Promise<ContentDigest> {
  const groups = new Map<readonly string[], number[]>();
  for (const position of entries.keys()) {
    const algorithms = algorithmsAt(position);
    const group = groups.get(algorithms);
    if (group === undefined) groups.set(algorithms, [position]);
    else group.push(position);
  }
  const inGroup = new Uint32Array(entries.length);
  const digestsAt: EntryDigests[] = new Array(entries.length);
  for (const [algorithms, positions] of groups) {
    const ofGroup = positions.length === entries.length ? entries : positions.map((at) => entries[at] as ZipEntry);
    const digests = await digestEntries(source, ofGroup, algorithms);
    for (const [index, position] of positions.entries()) {
      inGroup[position] = index;
      digestsAt[position] = digests;
    }
  }
  return (position, algorithm) => {
    const digests = digestsAt[position];
    if (digests === undefined) throw new TypeError('the entry was not digested');
    return digests.base64(inGroup[position] ?? 0, algorithm);
  };
}

/** Adds a name to a list; the same names, in whatever order they came, give the same list. */
export function internLists(): (names: readonly string[], added: string) => readonly string[] {
  const lists = new Map<string, readonly string[]>();
  return (names, added) => {
    if (names.includes(added)) return names;
    const key = names.length === 0 ? added : [...names, added].sort().join();
    const list = lists.get(key) ?? key.split(',');
    lists.set(key, list);
    return list;
  };
}

/** Further digests of so many bytes take 2 s of processor time by SHA3-512, the slowest. Two algorithms in a JAR of 512 MiB fit. */
export const FURTHER_BYTES = 512 * 1024 * 1024;
/** In large archives the bound grows with the compressed contents; classes and resources rarely compress to less than a tenth. */
const FURTHER_BYTES_PER_COMPRESSED_BYTE = 16;

/** As node:crypto calls them; Java knows all of these. */
const STRONGEST_FIRST: readonly string[] = [
  'sha512',
  'sha3-512',
  'sha384',
  'sha3-384',
  'sha256',
  'sha3-256',
  'sha224',
  'sha3-224',
  'sha1',
  'md5',
];

export interface LimitedDigests {
  /** The algorithms to digest each entry by, in the order of the entries. */
  readonly checked: readonly (readonly string[])[];
  /** Whether algorithms of the entry at this position were left out. */
  isReduced(position: number): boolean;
  /** How many entries are reduced. */
  readonly reducedCount: number;
}

/**
 * The strongest algorithm of each entry, and the others while their bytes fit the limit. The limit depends on the entries
 * alone, so that it is the same before and after signing.
 *
 * @param algorithms of each entry, as node:crypto calls them; equal lists are the same list, as in the result
 */
export function withinDigestLimit(
  entries: readonly ZipEntry[],
  algorithms: readonly (readonly string[])[],
): LimitedDigests {
  const compressed = entries.reduce((sum, { compressedSize }) => sum + compressedSize, 0);
  let left = Math.max(FURTHER_BYTES, FURTHER_BYTES_PER_COMPRESSED_BYTE * compressed);
  const strongest = new Map<readonly string[], readonly string[]>();
  const reduced = new Set<number>();
  const checked = entries.map(({ size }, position) => {
    const names = algorithms[position] ?? [];
    const bytes = size * (names.length - 1);
    if (bytes <= left) {
      left -= Math.max(bytes, 0);
      return names;
    }
    const first = strongest.get(names) ?? STRONGEST_FIRST.filter((name) => names.includes(name)).slice(0, 1);
    strongest.set(names, first);
    reduced.add(position);
    return first;
  });
  return { checked, isReduced: (position) => reduced.has(position), reducedCount: reduced.size };
}
