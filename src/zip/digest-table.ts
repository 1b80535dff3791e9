/** Where the digests of many entries are put: all of one algorithm, one after the other. */

import { createHash } from 'node:crypto';

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
