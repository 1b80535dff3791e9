/** Short ways of asking what the reader makes of an archive in memory. */

import { type ByteSource, memorySource } from '../../../../src/bytes/byte-source.ts';
import { expectedError } from '../../../../src/errors/codesign-error.ts';
import { readArchive, type ZipArchive } from '../../../../src/zip/archive.ts';
import type { ZipEntry } from '../../../../src/zip/directory.ts';
import { unpack } from '../../../../src/zip/unpack.ts';

export function read(bytes: Uint8Array): Promise<ZipArchive> {
  return readArchive(memorySource(bytes));
}

/** The names in the directory's order, or the code of the error. */
export async function namesOrCode(bytes: Uint8Array): Promise<readonly string[] | string> {
  const archive = await read(bytes).catch(expectedError);
  return 'entries' in archive ? archive.entries.map(({ name }) => name) : archive.code;
}

export async function refusal(bytes: Uint8Array): Promise<string> {
  const archive = await read(bytes).catch(expectedError);
  return 'entries' in archive ? 'accepted' : `${archive.code}: ${archive.message}`;
}

export async function contentsOf(bytes: Buffer): Promise<ReadonlyMap<string, string>> {
  const { entries } = await read(bytes);
  const dataOf = ({ dataOffset, compressedSize }: ZipEntry) => bytes.subarray(dataOffset, dataOffset + compressedSize);
  return new Map(entries.map((entry) => [entry.name, unpack(dataOf(entry), entry).toString('latin1')]));
}

export function entryNamed({ byName }: Pick<ZipArchive, 'byName'>, name: string): ZipEntry {
  const entry = byName.get(name);
  if (entry === undefined) throw new Error(`there is no ${name}`);
  return entry;
}

/** Counts what is read, so that a test can say how much that may be. */
export function countingSource(source: ByteSource): ByteSource & { readonly counted: () => number } {
  let counted = 0;
  return {
    ...source,
    read(offset, length, scratch) {
      counted += length;
      return source.read(offset, length, scratch);
    },
    counted: () => counted,
  };
}

export const u64 = (...values: readonly number[]) => Buffer.from(BigUint64Array.from(values, BigInt).buffer);
