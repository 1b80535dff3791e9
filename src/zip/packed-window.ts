/** A window of entries as one thread hands it to another: bytes, and what the entries' records say, as numbers. */

import { hash } from 'node:crypto';
import type { EntryWindow } from './entry-windows.ts';
import { type PlacedEntry, unpack } from './unpack.ts';

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
