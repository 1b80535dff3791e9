import type { ZipEntry } from '../../zip/directory.ts';
import type { DigestEntries, EntryDigests } from '../../zip/entry-digests.ts';

/** Gives the offset in the original of bytes of the copy; undefined for bytes that are not known to be the same. */
type OriginOf = (start: number, end: number) => number | undefined;

/** What was digested in one call: numbers only, since there may be a hundred thousand entries. */
interface Remembered {
  readonly algorithms: readonly string[];
  readonly digests: EntryDigests;
  /** Positions by the offset of the entry's data. Empty entries may have the same offset: the last is kept, and compared. */
  readonly positions: ReadonlyMap<number, number>;
  /** What each entry's record says, four numbers an entry. */
  readonly facts: Float64Array;
}

interface Found {
  /** Undefined for those that are digested now. */
  readonly digests: EntryDigests | undefined;
  readonly position: number;
}

/** Remembers digests of entries, so that a copy whose bytes are known to be the same need not be digested again. */
export function rememberDigests(digestEntries: DigestEntries) {
  const remembered: Remembered[] = [];

  function find(copied: ZipEntry, algorithms: readonly string[], originOf: OriginOf): Found | undefined {
    const origin = originOf(copied.dataOffset, copied.dataOffset + copied.compressedSize);
    for (const { algorithms: known, digests, positions, facts } of remembered) {
      const position = positions.get(origin ?? -1);
      if (position === undefined || !algorithms.every((algorithm) => known.includes(algorithm))) continue;
      if (factsOf(copied).every((fact, index) => fact === facts[position * FACTS + index]))
        return { digests, position };
    }
    return undefined;
  }

  return {
    /** As the one given, and remembers. */
    digestEntries: async (source, entries, algorithms) => {
      const digests = await digestEntries(source, entries, algorithms);
      const positions = new Map<number, number>();
      const facts = new Float64Array(entries.length * FACTS);
      for (const [position, entry] of entries.entries()) {
        positions.set(entry.dataOffset, position);
        facts.set(factsOf(entry), position * FACTS);
      }
      remembered.push({ algorithms, digests, positions, facts });
      return digests;
    },
    /** For a copy: an entry whose data is the original's is looked up, any other digested. */
    forCopy: (originOf) => async (source, entries, algorithms) => {
      const unknown: ZipEntry[] = [];
      const found = entries.map(
        (entry): Found =>
          find(entry, algorithms, originOf) ?? { digests: undefined, position: unknown.push(entry) - 1 },
      );
      const digested = await digestEntries(source, unknown, algorithms);
      return {
        base64(index, algorithm) {
          const { digests = digested, position = 0 } = found[index] ?? {};
          return digests.base64(position, algorithm);
        },
      };
    },
  } satisfies { digestEntries: DigestEntries; forCopy: (originOf: OriginOf) => DigestEntries };
}

const FACTS = 4;

/** What must be equal for the same data to have the same contents. */
function factsOf({ method, compressedSize, size, crc32 }: ZipEntry): readonly number[] {
  return [method, compressedSize, size, crc32];
}
