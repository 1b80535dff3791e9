/** Changing archives in memory, and saying byte by byte what is left of their entries. */

import { memorySource } from '../../../../src/bytes/byte-source.ts';
import { readArchive, type ZipArchive } from '../../../../src/zip/archive.ts';
import { editArchive } from '../../../../src/zip/edit-archive.ts';
import type { NewEntry } from '../../../../src/zip/write-records.ts';
import { applyPatch } from '../../formats/support/apply-patch.ts';
import { entryNamed } from './reading.ts';

export interface NamedChange {
  readonly remove?: readonly string[];
  readonly move?: readonly string[];
  readonly add?: readonly NewEntry[];
  /** Name of an entry → what comes right behind it, or in its place when it is removed. */
  readonly behind?: Readonly<Record<string, NewEntry>>;
}

export async function edited(
  bytes: Buffer,
  { remove = [], move = [], add = [], behind = {} }: NamedChange,
): Promise<Buffer> {
  const archive = await readArchive(memorySource(bytes));
  const moved = move.map((name) => entryNamed(archive, name));
  const removed = new Set(remove.map((name) => entryNamed(archive, name)));
  const followers = new Map(Object.entries(behind).map(([name, item]) => [entryNamed(archive, name), item]));
  return applyPatch(bytes, editArchive(archive, { remove: removed, first: [...moved, ...add], after: followers }));
}

/** Local records whole, and those of the directory without the offsets of the local ones, in the directory's order. */
export function recordsOf(bytes: Buffer, { entries, directory }: ZipArchive) {
  return entries.map(({ name, offset, end, recordStart, recordEnd }) => {
    const central = Buffer.from(directory.subarray(recordStart, recordEnd)).fill(0, 42, 46);
    return { name, local: bytes.toString('latin1', offset, end), central: central.toString('latin1') };
  });
}
