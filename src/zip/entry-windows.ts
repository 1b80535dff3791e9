/** Entries in the order of their places in the file, in groups that one read each brings. */

import { hash } from 'node:crypto';
import { type PlacedEntry, unpack } from './unpack.ts';

/** Of the archive, read at once. */
export const WINDOW_LENGTH = 1024 * 1024;
/** Entries up to this size, packed and unpacked, are digested whole from a shared buffer; larger ones in pieces. */
const LARGEST_WHOLE = 1024 * 1024;

/** A run of entries near each other in the file; `positions` are those in the list. */
export interface EntryWindow {
  readonly positions: readonly number[];
  readonly start: number;
  readonly end: number;
}

/** Groups entries by their places. An entry too large for a group is one of its own. */
export function windowsOf(entries: readonly PlacedEntry[]): EntryWindow[] {
  const placeOf = (position: number): number => entries[position]?.dataOffset ?? 0;
  const isInOrder = entries.every(({ dataOffset }, position) => position === 0 || dataOffset >= placeOf(position - 1));
  const order = isInOrder ? entries.keys() : [...entries.keys()].sort((a, b) => placeOf(a) - placeOf(b));
  const windows: EntryWindow[] = [];
  let positions: number[] = [];
  let start = 0;
  let end = 0;
  const close = (): void => {
    if (positions.length > 0) windows.push({ positions, start, end });
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
    if (isLarge(entry)) close();
  }
  close();
  return windows;
}

/** Whether the window is one large entry, to be digested in pieces. */
export function largeEntryOf(
  { positions }: EntryWindow,
  entries: readonly PlacedEntry[],
): { readonly entry: PlacedEntry; readonly position: number } | undefined {
  const [position = 0] = positions;
  const entry = entries[position];
  return entry !== undefined && positions.length === 1 && isLarge(entry) ? { entry, position } : undefined;
}

function isLarge({ size, compressedSize }: PlacedEntry): boolean {
  return size > LARGEST_WHOLE || compressedSize > LARGEST_WHOLE;
}

export interface PackedWindow {
  /** What the archive has from the window's start; the window may be the first part of it. */
  readonly bytes: ArrayBuffer;
  /** Five numbers an entry: place in `bytes`, compressed size, size, CRC-32, method. */
  readonly facts: Float64Array<ArrayBuffer>;
  /** As node:crypto calls them. */
  readonly algorithms: readonly string[];
}

const FACTS = 5;

export function factsOf(entries: readonly PlacedEntry[], { positions, start }: EntryWindow): Float64Array<ArrayBuffer> {
  const facts = new Float64Array(positions.length * FACTS);
  for (const [index, position] of positions.entries()) {
    const entry = entries[position];
    if (entry === undefined) continue;
    facts.set([entry.dataOffset - start, entry.compressedSize, entry.size, entry.crc32, entry.method], index * FACTS);
  }
  return facts;
}

/**
 * For each algorithm, the raw digests of all entries in a row; after checking size and CRC-32. Throws
 * `zip-entry-damaged`, without the entry's name.
 */
export function digestPacked({ bytes, facts, algorithms }: PackedWindow): readonly Uint8Array<ArrayBuffer>[] {
  const all = Buffer.from(bytes);
  const columns = algorithms.map((): string[] => []);
  for (let at = 0; at < facts.length; at += FACTS) {
    const [start = 0, compressedSize = 0, size = 0, crc32 = 0, method = 0] = facts.subarray(at, at + FACTS);
    const contents = unpack(all.subarray(start, start + compressedSize), {
      name: '',
      compressedSize,
      size,
      crc32,
      method,
    });
    for (const [index, algorithm] of algorithms.entries()) columns[index]?.push(hash(algorithm, contents, 'binary'));
  }
  return columns.map((digests) => Uint8Array.from(Buffer.from(digests.join(''), 'binary')));
}
