/** The bound on digests of contents beyond one for each file: a manifest may have digests by a dozen algorithms of contents that inflate a thousandfold. */

import type { ZipEntry } from '../../zip/entry.ts';

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
