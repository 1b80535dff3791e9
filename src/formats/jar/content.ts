import type { ByteSource } from '../../bytes/byte-source.ts';
import type { ZipEntry } from '../../zip/directory.ts';
import type { DigestEntries, EntryDigests } from '../../zip/entry-digests.ts';
import { jarErrors } from './errors.ts';
import type { JarLayout } from './layout.ts';
import type { DigestAttribute, Manifest } from './manifest/manifest.ts';

export interface ListedEntry {
  readonly entry: ZipEntry;
  readonly sectionEnd: number | undefined;
  readonly digests: readonly KnownDigest[];
}

export interface KnownDigest extends DigestAttribute {
  readonly nodeName: string;
}

export type ContentDigest = (position: number, algorithm: string) => string;

const NONE: readonly KnownDigest[] = [];

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
    own.digests = onlyDigests(name, own.digests, digests.filter(isKnown));
    own.sectionEnd = contentEnd;
  }
  return listed;
}

export function isKnown(digest: DigestAttribute): digest is KnownDigest {
  return digest.nodeName !== undefined;
}

/** Only one of several sections with the same name may contain digests. */
export function onlyDigests<Item>(name: string, before: readonly Item[], more: readonly Item[]): readonly Item[] {
  if (before.length > 0 && more.length > 0) throw jarErrors('jar-too-many-digests', { name });
  return more.length > 0 ? more : before;
}

export async function digestListed(
  source: ByteSource,
  listed: readonly ListedEntry[],
  algorithm: string,
  digestEntries: DigestEntries,
): Promise<ContentDigest> {
  const entries = listed.map(({ entry }) => entry);
  const shared = sharedLists();
  const algorithms = listed.map(({ digests }) => shared([algorithm, ...digests.map(({ nodeName }) => nodeName)]));
  return digestContents(source, entries, algorithms, digestEntries);
}

export function sharedLists(): (algorithms: readonly string[]) => readonly string[] {
  const lists = new Map<string, readonly string[]>();
  return (algorithms) => {
    const distinct = [...new Set(algorithms)].sort();
    const key = distinct.join();
    const list = lists.get(key) ?? distinct;
    lists.set(key, list);
    return list;
  };
}

/** Reads each entry once. `algorithms` contains a list for each entry. Equal lists must be the same object. */
export async function digestContents(
  source: ByteSource,
  entries: readonly ZipEntry[],
  algorithms: readonly (readonly string[])[],
  digestEntries: DigestEntries,
): Promise<ContentDigest> {
  checkDigestLimit(entries, algorithms);
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

/** SHA3-512, the slowest algorithm, takes 2 s of processor time for this number of bytes. */
export const FURTHER_BYTES = 512 * 1024 * 1024;
/** The compressed size is rarely less than a tenth of the uncompressed size. */
const FURTHER_BYTES_PER_COMPRESSED_BYTE = 16;

/** The limit applies to additional digests: the first digest of each entry does not count. Signing leaves it unchanged. */
export function checkDigestLimit(
  entries: readonly Pick<ZipEntry, 'name' | 'size' | 'compressedSize'>[],
  algorithms: readonly (readonly string[])[],
): void {
  const compressed = entries.reduce((sum, { compressedSize }) => sum + compressedSize, 0);
  let left = Math.max(FURTHER_BYTES, FURTHER_BYTES_PER_COMPRESSED_BYTE * compressed);
  for (const [position, { name, size }] of entries.entries()) {
    left -= size * Math.max((algorithms[position]?.length ?? 0) - 1, 0);
    if (left < 0) throw jarErrors('jar-too-many-digests', { name });
  }
}
