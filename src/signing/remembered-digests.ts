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
  forCopy(originOf: OriginOf): DigestEntries;
}

type OriginOf = (start: number, end: number) => number | undefined;

/** What was digested in one call: numbers only, since there may be a hundred thousand entries. */
interface Remembered {
  readonly algorithms: readonly string[];
  readonly digests: EntryDigests;
  /** Positions by the place of the entry's data. Empty entries may share a place: the last is kept, and compared. */
  readonly positions: ReadonlyMap<number, number>;
  /** What each entry's record says, four numbers an entry. */
  readonly facts: Float64Array;
}

interface Found {
  readonly digests: EntryDigests;
  readonly position: number;
}

export function rememberDigests(digestEntries: DigestEntries): RememberedDigests {
  const remembered: Remembered[] = [];

  const remember: DigestEntries = async (source, entries, algorithms) => {
    const digests = await digestEntries(source, entries, algorithms);
    const positions = new Map(entries.map(({ dataOffset }, position) => [dataOffset, position]));
    const facts = new Float64Array(entries.length * FACTS);
    for (const [position, entry] of entries.entries()) facts.set(factsOf(entry), position * FACTS);
    remembered.push({ algorithms, digests, positions, facts });
    return digests;
  };

  function find(copied: ZipEntry, algorithms: readonly string[], originOf: OriginOf): Found | undefined {
    const origin = originOf(copied.dataOffset, copied.dataOffset + copied.compressedSize);
    if (origin === undefined) return undefined;
    for (const { algorithms: known, digests, positions, facts } of remembered) {
      const position = positions.get(origin);
      if (position === undefined || factsOf(copied).some((fact, at) => facts[position * FACTS + at] !== fact)) continue;
      if (algorithms.every((algorithm) => known.includes(algorithm))) return { digests, position };
    }
    return undefined;
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

const FACTS = 4;

/** What must be equal for the same data to have the same contents. */
function factsOf({ method, compressedSize, size, crc32 }: ZipEntry): readonly number[] {
  return [method, compressedSize, size, crc32];
}
