/** Digests of entries' contents: the seam through which a format asks for them, and how they are made. */

import { createHash, hash } from 'node:crypto';
import type { ByteSource } from '../bytes/byte-source.ts';
import type { DigestThreads } from './digest-threads.ts';
import type { ZipEntry } from './directory.ts';
import { type EntryWindow, factsOf, largeEntryOf, WINDOW_LENGTH, windowsOf } from './entry-windows.ts';
import { asBuffer } from './fields.ts';
import { type PlacedEntry, unpack, unpackInPieces } from './unpack.ts';

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

/** Below that threads gain next to nothing, and for many small entries they take a third more memory. Bytes of contents. */
const WORTH_THREADS = 96 * 1024 * 1024;

/** In this thread, one entry after the other. */
export const digestEntries: DigestEntries = digestEntriesWith(undefined);

/** In this thread and, where there is much to do, in those. @param worth how many bytes of contents are much */
export function digestEntriesWith(threads: DigestThreads | undefined, worth = WORTH_THREADS): DigestEntries {
  return async (source, entries, algorithms) => {
    const table = emptyTable(algorithms, entries.length);
    const isWorthThreads = threads !== undefined && sizeOf(entries) >= worth;
    if (isWorthThreads) threads.start();
    await digestWindows(source, entries, table, isWorthThreads ? threads : undefined);
    return readTable(table);
  };
}

function sizeOf(entries: readonly PlacedEntry[]): number {
  return entries.reduce((sum, { size }) => sum + size, 0);
}

/** Of several damaged entries the first one is told, whichever thread met it. */
async function digestWindows(
  source: ByteSource,
  entries: readonly PlacedEntry[],
  table: DigestTable,
  threads: DigestThreads | undefined,
): Promise<void> {
  const spare: Buffer[] = [];
  const handedOver = new Set<Promise<void>>();
  /** Those that another thread could not digest: here they are, or the same error comes. */
  const again: EntryWindow[] = [];

  async function digest(window: EntryWindow, others: DigestThreads | undefined): Promise<void> {
    const large = largeEntryOf(window, entries);
    if (large !== undefined) return await digestInPieces(source, large.entry, large.position, table);
    const scratch = spare.pop() ?? Buffer.allocUnsafeSlow(WINDOW_LENGTH);
    const bytes = asBuffer(await source.read(window.start, window.end - window.start, scratch));
    const { buffer } = scratch;
    const canMove = bytes.buffer === buffer && buffer instanceof ArrayBuffer;
    const pack = () => ({
      bytes: buffer as ArrayBuffer,
      facts: factsOf(entries, window),
      algorithms: table.algorithms,
    });
    const outcome = canMove ? others?.offer(pack) : undefined;
    if (outcome === undefined) {
      digestHere(bytes, window, entries, table);
      spare.push(scratch);
      return;
    }
    const taken = outcome.then(({ bytes: given, digests }) => {
      if (given !== undefined) spare.push(Buffer.from(given));
      if (digests === undefined) again.push(window);
      else putAll(table, window, digests);
      handedOver.delete(taken);
    });
    handedOver.add(taken);
  }

  async function settle(): Promise<void> {
    await Promise.all(handedOver);
    for (const window of again.splice(0).sort((a, b) => a.start - b.start)) await digest(window, undefined);
  }

  try {
    for (const window of windowsOf(entries)) {
      if (again.length > 0) await settle();
      await digest(window, threads);
    }
  } finally {
    await settle(); // what it throws is of an earlier entry than what is thrown already
  }
}

function digestHere(
  bytes: Buffer,
  { positions, start }: EntryWindow,
  entries: readonly PlacedEntry[],
  { algorithms, lengths, columns }: DigestTable,
): void {
  for (const position of positions) {
    const entry = entries[position] as PlacedEntry;
    const from = entry.dataOffset - start;
    const contents = unpack(bytes.subarray(from, from + entry.compressedSize), entry);
    for (let index = 0; index < algorithms.length; index++) {
      // As a string, since a Buffer of its own for each of perhaps a hundred thousand is dear.
      const digest = hash(algorithms[index] ?? '', contents, 'binary');
      const length = lengths[index] ?? 0;
      columns[index]?.write(digest, position * length, length, 'binary');
    }
  }
}

/** zlib works in the thread pool for it, and so beside this thread as well. */
async function digestInPieces(
  source: ByteSource,
  entry: PlacedEntry,
  position: number,
  table: DigestTable,
): Promise<void> {
  const hashes = table.algorithms.map((algorithm) => createHash(algorithm));
  await unpackInPieces(source, entry, (piece) => {
    for (const each of hashes) each.update(piece);
  });
  for (const [index, each] of hashes.entries()) put(table, index, position, each.digest());
}

/** Puts what another thread has digested. */
function putAll(table: DigestTable, { positions }: EntryWindow, digests: readonly Uint8Array[]): void {
  for (const [index, column] of digests.entries()) {
    const length = table.lengths[index] ?? 0;
    for (const [at, position] of positions.entries()) {
      put(table, index, position, column.subarray(at * length, (at + 1) * length));
    }
  }
}

/** Digests of some entries' contents, by several algorithms. */
export interface EntryDigests {
  /** `position`: of the entry in the list that was asked about; `algorithm`: as node:crypto calls it. Base64. */
  base64(position: number, algorithm: string): string;
}

export interface DigestTable {
  /** As node:crypto calls them. */
  readonly algorithms: readonly string[];
  /** Of a digest by each, in bytes. */
  readonly lengths: readonly number[];
  /** For each algorithm: the raw digests of all entries, in order. */
  readonly columns: readonly Buffer[];
}

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

/** Puts the digest of one entry by the algorithm at `index`. */
export function put({ columns, lengths }: DigestTable, index: number, position: number, digest: Uint8Array): void {
  columns[index]?.set(digest, position * (lengths[index] ?? 0));
}
