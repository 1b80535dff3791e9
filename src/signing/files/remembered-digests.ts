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

/** Remembers digests of entries, so that a copy whose bytes are known to be the same need not be digested again. */
export function rememberDigests(digestEntries: DigestEntries) {
  const remembered: Remembered[] = [];

  const remember: DigestEntries = async (source, entries, algorithms) => {
    const digests = await digestEntries(source, entries, algorithms);
    const positions = new Map(entries.map(({ dataOffset }, position) => [dataOffset, position]));
    const facts = new Float64Array(entries.length * FACTS);
    for (const [position, entry] of entries.entries()) facts.set(factsOf(entry), position * FACTS);
    remembered.push({ algorithms, digests, positions, facts });
    return digests;
  };

  /** Which of the calls knows the entry's digests, and at which position; -1 when none does. */
  function find(
    copied: ZipEntry,
    algorithms: readonly string[],
    originOf: OriginOf,
  ): { call: number; position: number } {
    const origin = originOf(copied.dataOffset, copied.dataOffset + copied.compressedSize);
    const call = remembered.findIndex(({ algorithms: known, positions, facts }) => {
      const position = origin === undefined ? undefined : positions.get(origin);
      if (position === undefined || !hasFacts(copied, facts, position * FACTS)) return false;
      return algorithms.every((algorithm) => known.includes(algorithm));
    });
    return { call, position: remembered[call]?.positions.get(origin ?? -1) ?? -1 };
  }

  return {
    /** As the one given, and remembers. */
    digestEntries: remember,
    /** For a copy: an entry whose data is the original's is looked up, any other digested. */
    forCopy:
      (originOf: OriginOf): DigestEntries =>
      async (source, entries, algorithms) => {
        const calls = new Int32Array(entries.length);
        const positions = new Int32Array(entries.length);
        const unknown: ZipEntry[] = [];
        for (const [index, entry] of entries.entries()) {
          const { call, position } = find(entry, algorithms, originOf);
          calls[index] = call;
          positions[index] = call < 0 ? unknown.push(entry) - 1 : position;
        }
        const digested = await digestEntries(source, unknown, algorithms);
        return {
          base64(index, algorithm) {
            const digests = remembered[calls[index] ?? -1]?.digests ?? digested;
            return digests.base64(positions[index] ?? 0, algorithm);
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

function hasFacts({ method, compressedSize, size, crc32 }: ZipEntry, facts: Float64Array, start: number): boolean {
  return (
    facts[start] === method &&
    facts[start + 1] === compressedSize &&
    facts[start + 2] === size &&
    facts[start + 3] === crc32
  );
}
