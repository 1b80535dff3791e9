/**
 * Changing an archive without rewriting it: some records go, new ones come first, the directory follows; every other
 * entry's record stays as it is, byte for byte, and only moves.
 */

import type { Edit, Patch } from '../bytes/patch.ts';
import type { ZipArchive } from './archive.ts';
import type { ZipEntry } from './entry.ts';
import { STORED } from './fields.ts';
import { centralRecord, localHeader, localLength, type NewEntry } from './new-entry.ts';
import { directoryWriter, writeEndRecords } from './write-directory.ts';

export interface ArchiveChange {
  readonly remove: ReadonlySet<ZipEntry>;
  /**
   * What comes first, in this order, in the file and in the directory: new entries, or entries of the archive with the
   * bytes of their records.
   */
  readonly first: readonly (NewEntry | MovedEntry)[];
}

export interface MovedEntry {
  readonly entry: ZipEntry;
  /** All bytes of its record in the file. */
  readonly bytes: Uint8Array;
}

const NOTHING = new Uint8Array();
/** Programs that map stored entries into memory want them at multiples of 4 bytes (zipalign). */
const ALIGNMENT = 4;
/** Header ID of the alignment extra field that zipalign writes: two bytes of alignment, then zeros. */
const ALIGNMENT_EXTRA = 0xd935;
const ALIGNMENT_EXTRA_LENGTH = 6;
/** Of a new entry's directory record. */
const ROOM_FOR_RECORD = 256;

/**
 * Pure: the edits. Entries behind all that changes move by a multiple of 4, which costs a few bytes of padding in a new
 * entry. Throws `zip-unsupported`.
 */
export function editArchive(archive: ZipArchive, { remove, first }: ArchiveChange): Patch {
  const moved = new Set(first.flatMap((item) => ('entry' in item ? [item.entry] : [])));
  const leaving = archive.inFile.filter((entry) => remove.has(entry) || moved.has(entry));
  const staying = archive.entries.filter((entry) => !remove.has(entry) && !moved.has(entry));

  const padded = alignFollowing(first, leaving, staying);
  const edits = [
    ...padded.flatMap((item) => insertionsOf(item, archive.start)),
    ...mergeAdjacent(leaving.map(({ offset, end }) => ({ offset, remove: end - offset, insert: NOTHING }))),
  ];

  const { base, directoryOffset } = archive.end;
  const movedBy = shifts(edits);
  const directory = directoryWriter(archive.directory.length + padded.length * ROOM_FOR_RECORD);
  let offset = archive.start;
  for (const item of padded) {
    if ('entry' in item) directory.add(archive.directory, item.entry.recordStart, item.entry.recordEnd, offset - base);
    else {
      const record = centralRecord(item);
      directory.add(record, 0, record.length, offset - base);
    }
    offset += lengthOf(item);
  }
  for (const entry of staying) {
    directory.add(archive.directory, entry.recordStart, entry.recordEnd, movedBy(entry.offset) - base);
  }
  const records = directory.bytes();
  const end = writeEndRecords(archive.end, {
    entryCount: padded.length + staying.length,
    directorySize: records.length,
    directoryOffset: movedBy(directoryOffset) - base,
  });
  const endLength = archive.end.recordOffset + archive.end.record.length - directoryOffset;
  return [
    ...edits,
    { offset: directoryOffset, remove: 0, insert: records },
    { offset: directoryOffset, remove: endLength, insert: end },
  ];
}

/** One after the other at the same place; putting them together would only cost memory. */
function insertionsOf(item: NewEntry | MovedEntry, offset: number): Edit[] {
  const parts = 'entry' in item ? [item.bytes] : [localHeader(item), item.data];
  return parts.map((insert) => ({ offset, remove: 0, insert }));
}

function lengthOf(item: NewEntry | MovedEntry): number {
  return 'entry' in item ? item.bytes.length : localLength(item);
}

/** Removals in the order of the file; those that touch become one. */
function mergeAdjacent(removals: readonly Edit[]): Edit[] {
  const merged: Edit[] = [];
  for (const edit of removals) {
    const last = merged.at(-1);
    if (last === undefined || last.offset + last.remove !== edit.offset) merged.push(edit);
    else merged[merged.length - 1] = { ...last, remove: last.remove + edit.remove };
  }
  return merged;
}

/** Where a byte that stays is once the edits are made. */
function shifts(edits: readonly Edit[]): (offset: number) => number {
  let total = 0;
  const steps = edits.map(({ offset, remove, insert }) => {
    total += insert.length - remove;
    return { from: offset + remove, by: total };
  });
  return (offset) => {
    let low = 0;
    let high = steps.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((steps[middle]?.from ?? 0) <= offset) low = middle + 1;
      else high = middle;
    }
    return offset + (steps[low - 1]?.by ?? 0);
  };
}

/**
 * The last new entry gets an extra field that makes everything behind it move by a multiple of the alignment, whether or
 * not it is aligned: so that the bytes added do not depend on which signatures were there before.
 */
function alignFollowing(
  first: readonly (NewEntry | MovedEntry)[],
  leaving: readonly ZipEntry[],
  staying: readonly ZipEntry[],
): readonly (NewEntry | MovedEntry)[] {
  const last = first.at(-1);
  const isStored = ({ method, size }: ZipEntry): boolean => method === STORED && size > 0;
  if (last === undefined || 'entry' in last || !staying.some(isStored)) return first;
  const added = first.reduce((sum, item) => sum + lengthOf(item), 0);
  const removed = leaving.reduce((sum, { offset, end }) => sum + end - offset, 0);
  let padding = modulo(removed - added, ALIGNMENT);
  if (padding === 0) return first;
  while (padding < ALIGNMENT_EXTRA_LENGTH) padding += ALIGNMENT;
  const extra = Buffer.alloc(padding);
  extra.writeUInt16LE(ALIGNMENT_EXTRA, 0);
  extra.writeUInt16LE(padding - 4, 2);
  extra.writeUInt16LE(ALIGNMENT, 4);
  return [...first.slice(0, -1), { ...last, extra: Buffer.concat([last.extra, extra]) }];
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}
