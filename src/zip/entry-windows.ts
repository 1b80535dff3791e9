import { hash } from 'node:crypto';
import { type LocatedEntry, unpack } from './unpack.ts';

export const WINDOW_LENGTH = 1024 * 1024;
/** Larger entries, compressed or not, are digested in pieces. */
const LARGEST_WHOLE = 1024 * 1024;

/** A range of the file that contains adjacent entries. `positions` are the indexes of the entries in the list. */
export interface EntryWindow {
  readonly positions: readonly number[];
  readonly start: number;
  readonly end: number;
  readonly isLarge: boolean;
}

export function windowsOf(entries: readonly LocatedEntry[]): EntryWindow[] {
  const offsetOf = (position: number): number => entries[position]?.dataOffset ?? 0;
  const order = [...entries.keys()].sort((a, b) => offsetOf(a) - offsetOf(b));
  const windows: EntryWindow[] = [];
  let positions: number[] = [];
  let start = 0;
  let end = 0;
  const close = (isLarge = false): void => {
    if (positions.length > 0) windows.push({ positions, start, end, isLarge });
    positions = [];
  };
  for (const position of order) {
    const entry = entries[position];
    if (entry === undefined) continue;
    const dataEnd = entry.dataOffset + entry.compressedSize;
    if (isLarge(entry) || dataEnd - start > WINDOW_LENGTH) close();
    if (positions.length === 0) start = entry.dataOffset;
    positions.push(position);
    end = dataEnd;
    if (isLarge(entry)) close(true);
  }
  close();
  return windows;
}

function isLarge({ size, compressedSize }: LocatedEntry): boolean {
  return size > LARGEST_WHOLE || compressedSize > LARGEST_WHOLE;
}

export interface PackedWindow {
  readonly bytes: ArrayBuffer;
  /** Each `dataOffset` is an offset in `bytes`. */
  readonly entries: readonly LocatedEntry[];
  readonly algorithms: readonly string[];
}

export function entriesIn(
  entries: readonly LocatedEntry[],
  { positions, start }: EntryWindow,
): readonly LocatedEntry[] {
  return positions.map((position) => {
    const { name, method, compressedSize, size, crc32, dataOffset } = entries[position] as LocatedEntry;
    return { name, method, compressedSize, size, crc32, dataOffset: dataOffset - start };
  });
}

/** For each algorithm, returns the digests of all entries in one array. Throws `zip-entry-damaged`. */
export function digestWindow(
  bytes: Buffer,
  entries: readonly LocatedEntry[],
  algorithms: readonly string[],
): readonly Uint8Array<ArrayBuffer>[] {
  const columns = algorithms.map((): string[] => []);
  for (const entry of entries) {
    const contents = unpack(bytes.subarray(entry.dataOffset, entry.dataOffset + entry.compressedSize), entry);
    for (const [index, algorithm] of algorithms.entries()) columns[index]?.push(hash(algorithm, contents, 'binary'));
  }
  return columns.map((digests) => new Uint8Array(Buffer.from(digests.join(''), 'binary')));
}
