/** Digests of entries' contents: the seam through which a format asks for them, and the plain way of making them. */

import { createHash, hash } from 'node:crypto';
import type { ByteSource } from '../bytes/byte-source.ts';
import type { ZipEntry } from './entry.ts';
import { asBuffer } from './fields.ts';
import { unpack, unpackInPieces } from './unpack.ts';

/** Digests of some entries' contents, by several algorithms. */
export interface EntryDigests {
  /** `position`: of the entry in the list that was asked about; `algorithm`: as node:crypto calls it. Base64. */
  base64(position: number, algorithm: string): string;
}

/**
 * Digests the contents of each entry by each algorithm (node:crypto's names), after checking size and CRC-32. A format
 * calls it instead of reading by itself, so that several threads can share the work, and what is known of an unchanged
 * copy need not be found out again. Throws `zip-entry-damaged`.
 */
export type DigestEntries = (
  source: ByteSource,
  entries: readonly ZipEntry[],
  algorithms: readonly string[],
) => Promise<EntryDigests>;

/** Entries up to this size, packed and unpacked, are digested whole from a shared buffer; larger ones in pieces. */
const LARGEST_WHOLE = 4 * 1024 * 1024;
/** Of the archive, read at once. */
const WINDOW_LENGTH = 2 * 1024 * 1024;

/** Where digests are put: all of one algorithm, one after the other. */
export interface DigestTable {
  readonly algorithms: readonly string[];
  readonly lengths: readonly number[];
  /** For each algorithm: the raw digests of all entries, in order. */
  readonly columns: readonly Buffer[];
}

/** In this thread, one entry after the other. */
export const digestEntries: DigestEntries = async (source, entries, algorithms) => {
  const table = emptyTable(algorithms, entries.length);
  for (const window of windowsOf(entries)) await digestWindow(source, entries, window, table, 0);
  return readTable(table);
};

export function emptyTable(algorithms: readonly string[], count: number): DigestTable {
  const lengths = algorithms.map((algorithm) => createHash(algorithm).digest().length);
  return { algorithms, lengths, columns: lengths.map((length) => Buffer.alloc(length * count)) };
}

export function readTable({ algorithms, lengths, columns }: DigestTable): EntryDigests {
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
export interface EntryWindow {
  readonly positions: readonly number[];
  readonly start: number;
  readonly end: number;
}

/** Groups entries by their places in the file, so that each group is one read. An entry too large for that is a group of its own. */
export function windowsOf(entries: readonly ZipEntry[]): EntryWindow[] {
  const order = [...entries.keys()].sort((a, b) => (entries[a]?.dataOffset ?? 0) - (entries[b]?.dataOffset ?? 0));
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

function isLarge({ size, compressedSize }: ZipEntry): boolean {
  return size > LARGEST_WHOLE || compressedSize > LARGEST_WHOLE;
}

/** Digests one window's entries into the table; `shift` is how much further on in the list than in the table they are. */
export async function digestWindow(
  source: ByteSource,
  entries: readonly ZipEntry[],
  { positions, start, end }: EntryWindow,
  table: DigestTable,
  shift: number,
): Promise<void> {
  const only = entries[positions[0] ?? 0];
  if (positions.length === 1 && only !== undefined && isLarge(only)) {
    const digests = await digestInPieces(source, only, table.algorithms);
    for (const [index, digest] of digests.entries()) put(table, index, (positions[0] ?? 0) - shift, digest);
    return;
  }
  const bytes = asBuffer(await source.read(start, end - start));
  for (const position of positions) {
    const entry = entries[position] as ZipEntry;
    const from = entry.dataOffset - start;
    const contents = unpack(bytes.subarray(from, from + entry.compressedSize), entry);
    table.algorithms.forEach((algorithm, index) => {
      put(table, index, position - shift, hash(algorithm, contents, 'buffer'));
    });
  }
}

function put({ columns, lengths }: DigestTable, index: number, position: number, digest: Buffer): void {
  columns[index]?.set(digest, position * (lengths[index] ?? 0));
}

async function digestInPieces(source: ByteSource, entry: ZipEntry, algorithms: readonly string[]): Promise<Buffer[]> {
  const hashes = algorithms.map((algorithm) => createHash(algorithm));
  await unpackInPieces(source, entry, (piece) => {
    for (const each of hashes) each.update(piece);
  });
  return hashes.map((each) => each.digest());
}
