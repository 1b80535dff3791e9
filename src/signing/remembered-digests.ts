/** Digests of an original's entries, remembered, so that a copy whose bytes are known to be the same need not be digested again. */

import type { ByteSource } from '../bytes/byte-source.ts';
import type { ZipEntry } from '../zip/entry.ts';
import type { DigestEntries, EntryDigests } from '../zip/entry-digests.ts';

export interface RememberedDigests {
  /** As the one given, and remembers. */
  readonly digestEntries: DigestEntries;
  /**
   * For a copy: an entry whose data is the original's is looked up, any other digested. `originOf` gives the place in
   * the original of bytes of the copy; undefined for bytes that are not known to be the same.
   */
  forCopy(originOf: (start: number, end: number) => number | undefined): DigestEntries;
}

interface Remembered {
  readonly entry: ZipEntry;
  readonly algorithms: readonly string[];
  readonly digests: EntryDigests;
  readonly position: number;
}

export function rememberDigests(digestEntries: DigestEntries): RememberedDigests {
  /** By the place of the entry's data. Empty ones may share a place: the last one is kept, and compared. */
  const remembered = new Map<number, Remembered>();

  const remember: DigestEntries = async (source, entries, algorithms) => {
    const digests = await digestEntries(source, entries, algorithms);
    for (const [position, entry] of entries.entries()) {
      remembered.set(entry.dataOffset, { entry, algorithms, digests, position });
    }
    return digests;
  };

  function find(
    copied: ZipEntry,
    algorithms: readonly string[],
    originOf: (start: number, end: number) => number | undefined,
  ): Remembered | undefined {
    const origin = originOf(copied.dataOffset, copied.dataOffset + copied.compressedSize);
    const found = origin === undefined ? undefined : remembered.get(origin);
    if (found === undefined || !isSameContents(found.entry, copied)) return undefined;
    return algorithms.every((algorithm) => found.algorithms.includes(algorithm)) ? found : undefined;
  }

  return {
    digestEntries: remember,
    forCopy: (originOf) => async (source: ByteSource, entries, algorithms) => {
      const known = entries.map((entry) => find(entry, algorithms, originOf));
      const unknown = entries.filter((_, position) => known[position] === undefined);
      const digested = await digestEntries(source, unknown, algorithms);
      let next = 0;
      const places = known.map((found) => (found === undefined ? next++ : -1));
      return {
        base64(position, algorithm) {
          const found = known[position];
          return found
            ? found.digests.base64(found.position, algorithm)
            : digested.base64(places[position] ?? 0, algorithm);
        },
      };
    },
  };
}

/** Whether the same data under these records has the same contents. */
function isSameContents(a: ZipEntry, b: ZipEntry): boolean {
  return a.method === b.method && a.compressedSize === b.compressedSize && a.size === b.size && a.crc32 === b.crc32;
}
