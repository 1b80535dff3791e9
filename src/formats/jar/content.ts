import type { ByteSource } from '../../bytes/byte-source.ts';
import type { ZipEntry } from '../../zip/directory.ts';
import type { DigestEntries, EntryDigests } from '../../zip/entry-digests.ts';
import { jarErrors } from './errors.ts';
import type { JarLayout } from './layout.ts';
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
  readonly nodeName: string;
}

/** `position`: of the entry in the list; `algorithm`: as node:crypto calls it. Base64. */
export type ContentDigest = (position: number, algorithm: string) => string;

const NONE: KnownDigest[] = [];

/** The files to sign, in their order, with what `manifest` says of them. */
export function listEntries(
  { archive, signable }: Pick<JarLayout, 'archive' | 'signable'>,
  manifest: Manifest | undefined,
): readonly ListedEntry[] {
  const listed = signable.map((entry) => ({ entry, sectionEnd: undefined as number | undefined, digests: NONE }));
  const byIndex: (typeof listed)[number][] = [];
  for (const each of listed) byIndex[each.entry.index] = each;
  for (const { name, contentEnd, digests } of manifest?.sections() ?? []) {
    const own = byIndex[archive.byName.get(name)?.index ?? -1];
    if (own === undefined) continue;
    const known = digests.filter(isKnown);
    if (own.digests === NONE) own.digests = known;
    else for (const digest of known) own.digests.push(digest);
    own.sectionEnd = contentEnd;
  }
  return listed;
}

export function isKnown(digest: DigestAttribute): digest is KnownDigest {
  return digest.nodeName !== undefined;
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
  const { algorithms, add } = collectAlgorithms(listed.length, [algorithm]);
  for (const [position, { digests }] of listed.entries()) for (const { nodeName } of digests) add(position, nodeName);
  const { reducedCount } = withinDigestLimit(entries, algorithms);
  if (reducedCount > 0) throw jarErrors('jar-too-many-digests', { count: reducedCount });
  return digestContents(source, entries, algorithms, digestEntries);
}

/** The algorithms of each entry's digests, and `always`. Entries with the same ones have the same list, not an equal one. */
export function collectAlgorithms(count: number, always: readonly string[] = []) {
  const lists = new Map<string, readonly string[]>();
  const algorithms = new Array<readonly string[]>(count).fill(always);
  const add = (position: number, nodeName: string): void => {
    const list = algorithms[position] ?? always;
    if (list.includes(nodeName)) return;
    const key = list.length === 0 ? nodeName : [...list, nodeName].sort().join();
    const longer = lists.get(key) ?? key.split(',');
    lists.set(key, longer);
    algorithms[position] = longer;
  };
  return { algorithms: algorithms as readonly (readonly string[])[], add };
}

/** Reads each entry once, whatever the number of its algorithms; `algorithms` has a list for each, equal ones the same. */
export async function digestContents(
  source: ByteSource,
  entries: readonly ZipEntry[],
  algorithms: readonly (readonly string[])[],
  digestEntries: DigestEntries,
): Promise<ContentDigest> {
  const inGroup = new Uint32Array(entries.length);
  const digestsAt: EntryDigests[] = new Array(entries.length);
  for (const list of new Set(algorithms)) {
    const positions = [...entries.keys()].filter((position) => algorithms[position] === list);
    const group = positions.map((position) => entries[position] as ZipEntry);
    const digests = await digestEntries(source, group, list);
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

/**
 * The strongest algorithm of each entry, and the others while their bytes fit the limit. The limit depends on the entries
 * alone, so that it is the same before and after signing. `checked` has the algorithms of each entry; of those that are
 * reduced, some were left out.
 *
 * @param algorithms of each entry, as node:crypto calls them; equal lists are the same list, as in the result
 */
export function withinDigestLimit(entries: readonly ZipEntry[], algorithms: readonly (readonly string[])[]) {
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
  return { checked, isReduced: (position: number) => reduced.has(position), reducedCount: reduced.size };
}
