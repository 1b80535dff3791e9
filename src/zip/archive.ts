/** A ZIP archive as it is in a file: its end, its directory, and every entry's place; nothing of the entries' data. */

import type { ByteSource } from '../bytes/byte-source.ts';
import { indexByName, readDirectory } from './directory.ts';
import { type EndOfArchive, findEndOfArchive } from './end-record.ts';
import type { ZipEntry } from './entry.ts';
import { zipErrors } from './errors.ts';
import { asBuffer } from './fields.ts';
import { locateEntries } from './local-headers.ts';

export interface ZipArchive {
  readonly end: EndOfArchive;
  /** The bytes of the central directory. */
  readonly directory: Buffer;
  /** In the directory's order, which is the one that programs list. */
  readonly entries: readonly ZipEntry[];
  /** In the order of their places in the file. */
  readonly inFile: readonly ZipEntry[];
  /** The entries by name. */
  readonly byName: ReadonlyMap<string, ZipEntry>;
  /** Where the first record begins: what is before it is no part of the archive. */
  readonly start: number;
}

/** Of more than a million entries. */
const LARGEST_DIRECTORY = 128 * 1024 * 1024;

/**
 * Reads the directory into memory and every local header in passing. Throws `zip-malformed`, `zip-ambiguous`,
 * `zip-unsupported`, `zip-name-refused`.
 */
export async function readArchive(source: ByteSource): Promise<ZipArchive> {
  const end = await findEndOfArchive(source);
  if (end.directorySize > LARGEST_DIRECTORY) {
    throw zipErrors('zip-unsupported', { problem: `its directory has ${end.directorySize} bytes` });
  }
  const directory = asBuffer(await source.read(end.directoryOffset, end.directorySize));
  const entries = readDirectory(directory, end);
  const byName = indexByName(entries);
  const inFile = await locateEntries(source, directory, entries, end.directoryOffset);
  return { end, directory, entries, inFile, byName, start: inFile[0]?.offset ?? end.directoryOffset };
}

/** The names of the entries, for telling what kind of archive this is. Throws as `readArchive`, but looks at the directory alone. */
export async function readNames(source: ByteSource): Promise<ReadonlySet<string>> {
  const end = await findEndOfArchive(source);
  if (end.directorySize > LARGEST_DIRECTORY) return new Set();
  const directory = asBuffer(await source.read(end.directoryOffset, end.directorySize));
  return new Set(readDirectory(directory, end).map(({ name }) => name));
}
