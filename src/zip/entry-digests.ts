/** Digests of entries' contents: the seam through which a format asks for them, and the plain way of making them. */

import { createHash, hash } from 'node:crypto';
import type { ByteSource } from '../bytes/byte-source.ts';
import type { ZipEntry } from './entry.ts';
import { asBuffer } from './fields.ts';
import { type PlacedEntry, unpack, unpackInPieces } from './unpack.ts';

/** Digests of some entries' contents, by several algorithms. */
export interface EntryDigests {
  /** `position`: of the entry in the list that was asked about; `algorithm`: as node:crypto calls it. Base64. */
  base64(position: number, algorithm: string): string;
}

/**
 * Digests the contents of each entry by each algorithm (node:crypto's names), after checking size and CRC-32. A format
 * calls it instead of reading by itself, so that what is known of an unchanged copy need not be found out again.
 * Throws `zip-entry-damaged`.
 */
export type DigestEntries = (
  source: ByteSource,
  entries: readonly ZipEntry[],
  algorithms: readonly string[],
) => Promise<EntryDigests>;

/** Entries up to this size, packed and unpacked, are digested whole from a shared buffer; larger ones in pieces. */
const LARGEST_WHOLE = 1024 * 1024;
/** Of the archive, read at once. */
const WINDOW_LENGTH = 1024 * 1024;

/** Where digests are put: all of one algorithm, one after the other. */
interface DigestTable {
  readonly algorithms: readonly string[];
  readonly lengths: readonly number[];
  /** For each algorithm: the raw digests of all entries, in order. */
  readonly columns: readonly Buffer[];
}

/** In this thread, one entry after the other. */
export const digestEntries: DigestEntries = async (source, entries, algorithms) => {
  const table = emptyTable(algorithms, entries.length);
  const scratch = Buffer.allocUnsafeSlow(WINDOW_LENGTH);
  for (const window of windowsOf(entries)) await digestWindow(source, entries, window, table, scratch);
  return readTable(table);
};

function emptyTable(algorithms: readonly string[], count: number): DigestTable {
  const lengths = algorithms.map((algorithm) => createHash(algorithm).digest().length);
  return { algorithms, lengths, columns: lengths.map((length) => Buffer.alloc(length * count)) };
}

function readTable({ algorithms, lengths, columns }: DigestTable): EntryDigests {
  return {
    base64(position, algorithm) {
      const index = algorithms.indexOf(algorithm);
      const column = columns[index];
      const length = lengths[index];
      if (column === undefined || length === undefined)
        throw new TypeError(`no digests by ${algorithm} were asked for`);
      return column.toString('base64', position * length, (position + 1) * length);
    },
  };
}

/** A run of entries near each other in the file; `positions` are those in the list. */
interface EntryWindow {
  readonly positions: readonly number[];
  readonly start: number;
  readonly end: number;
}

/** Groups entries by their places in the file, so that each group is one read. An entry too large for that is a group of its own. */
function windowsOf(entries: readonly PlacedEntry[]): EntryWindow[] {
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

function isLarge({ size, compressedSize }: PlacedEntry): boolean {
  return size > LARGEST_WHOLE || compressedSize > LARGEST_WHOLE;
}

/** Digests one window's entries into the table. */
async function digestWindow(
  source: ByteSource,
  entries: readonly PlacedEntry[],
  { positions, start, end }: EntryWindow,
  table: DigestTable,
  scratch: Buffer,
): Promise<void> {
  const only = entries[positions[0] ?? 0];
  if (positions.length === 1 && only !== undefined && isLarge(only)) {
    const digests = await digestInPieces(source, only, table.algorithms);
    for (const [index, digest] of digests.entries()) put(table, index, positions[0] ?? 0, digest);
    return;
  }
  const bytes = asBuffer(await source.read(start, end - start, scratch));
  for (const position of positions) {
    const entry = entries[position] as PlacedEntry;
    const from = entry.dataOffset - start;
    const contents = unpack(bytes.subarray(from, from + entry.compressedSize), entry);
    for (let index = 0; index < table.algorithms.length; index++) {
      // As a string, since a Buffer of its own for each of perhaps a hundred thousand is dear.
      const digest = hash(table.algorithms[index] ?? '', contents, 'binary');
      const length = table.lengths[index] ?? 0;
      table.columns[index]?.write(digest, position * length, length, 'binary');
    }
  }
}

function put({ columns, lengths }: DigestTable, index: number, position: number, digest: Buffer): void {
  columns[index]?.set(digest, position * (lengths[index] ?? 0));
}

async function digestInPieces(
  source: ByteSource,
  entry: PlacedEntry,
  algorithms: readonly string[],
): Promise<Buffer[]> {
  const hashes = algorithms.map((algorithm) => createHash(algorithm));
  await unpackInPieces(source, entry, (piece) => {
    for (const each of hashes) each.update(piece);
  });
  return hashes.map((each) => each.digest());
}
