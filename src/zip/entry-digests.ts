import { createHash } from 'node:crypto';
import type { ByteSource } from '../bytes/byte-source.ts';
import type { DigestThreads } from './digest-threads.ts';
import type { ZipEntry } from './directory.ts';
import { digestWindow, type EntryWindow, entriesIn, WINDOW_LENGTH, windowsOf } from './entry-windows.ts';
import { asBuffer } from './fields.ts';
import { type LocatedEntry, unpackInPieces } from './unpack.ts';

/** Checks the size and the CRC-32 of each entry, and digests it. Throws `zip-entry-damaged`. */
export type DigestEntries = (
  source: ByteSource,
  entries: readonly ZipEntry[],
  algorithms: readonly string[],
) => Promise<EntryDigests>;

/** For fewer bytes, threads save almost no time. With many small entries, threads take a third more memory. */
const WORTH_THREADS = 96 * 1024 * 1024;

export const digestEntries: DigestEntries = digestEntriesWith(undefined);

export function digestEntriesWith(threads: DigestThreads | undefined, worth = WORTH_THREADS): DigestEntries {
  return async (source, entries, algorithms) => {
    const table = emptyTable(algorithms, entries.length);
    const isWorthThreads = threads !== undefined && entries.reduce((sum, { size }) => sum + size, 0) >= worth;
    if (isWorthThreads) threads.start();
    await digestWindows(source, entries, table, isWorthThreads ? threads : undefined);
    return table;
  };
}

/** The error describes the first damaged entry of the archive, whichever thread found it. */
async function digestWindows(
  source: ByteSource,
  entries: readonly LocatedEntry[],
  table: DigestTable,
  threads: DigestThreads | undefined,
): Promise<void> {
  const spare: Buffer[] = [];
  const handedOver = new Set<Promise<void>>();
  /** Windows that another thread could not digest. The main thread digests these windows again, or throws the error. */
  const again: EntryWindow[] = [];

  async function digest(window: EntryWindow, others: DigestThreads | undefined): Promise<void> {
    if (window.isLarge) return await digestInPieces(source, entries, window, table);
    const scratch = spare.pop() ?? Buffer.allocUnsafeSlow(WINDOW_LENGTH);
    const bytes = asBuffer(await source.read(window.start, window.end - window.start, scratch));
    const { buffer } = scratch;
    const canMove = bytes.buffer === buffer && buffer instanceof ArrayBuffer;
    const { algorithms } = table;
    const placed = entriesIn(entries, window);
    const outcome = canMove ? others?.offer({ bytes: buffer, entries: placed, algorithms }) : undefined;
    if (outcome === undefined) {
      putAll(table, window, digestWindow(bytes, placed, algorithms));
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
    await settle(); // An error from another thread concerns an earlier entry.
  }
}

/** zlib decompresses in the thread pool while this thread works. */
async function digestInPieces(
  source: ByteSource,
  entries: readonly LocatedEntry[],
  { positions: [position = 0] }: EntryWindow,
  table: DigestTable,
): Promise<void> {
  const entry = entries[position] as LocatedEntry;
  const hashes = table.algorithms.map((algorithm) => createHash(algorithm));
  await unpackInPieces(source, entry, (piece) => {
    for (const each of hashes) each.update(piece);
  });
  for (const [index, each] of hashes.entries()) table.put(index, position, each.digest());
}

/** Each element of `digests` contains the digests of all entries with one algorithm. */
function putAll(table: DigestTable, { positions }: EntryWindow, digests: readonly Uint8Array[]): void {
  for (const [index, column] of digests.entries()) {
    const length = column.length / positions.length;
    for (const [at, position] of positions.entries()) {
      table.put(index, position, column.subarray(at * length, (at + 1) * length));
    }
  }
}

export interface EntryDigests {
  /** `position` is the index in the list of digested entries. `algorithm` is a name in node:crypto. */
  base64(position: number, algorithm: string): string;
}

interface DigestTable extends EntryDigests {
  readonly algorithms: readonly string[];
  put(index: number, position: number, digest: Uint8Array): void;
}

function emptyTable(algorithms: readonly string[], count: number): DigestTable {
  const lengths = algorithms.map((algorithm) => createHash(algorithm).digest().length);
  const columns = lengths.map((length) => Buffer.alloc(length * count));
  return {
    algorithms,
    put(index, position, digest) {
      columns[index]?.set(digest, position * (lengths[index] ?? 0));
    },
    base64(position, algorithm) {
      const index = algorithms.indexOf(algorithm);
      const length = lengths[index] ?? 0;
      return (columns[index] as Buffer).toString('base64', position * length, (position + 1) * length);
    },
  };
}
