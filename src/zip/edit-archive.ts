/** Edits an archive. In the records of the entries that stay, only the offsets change. */

import { type Edit, type Patch, type Piece, patchedPieces, pieceLength } from '../bytes/pieces.ts';
import type { ZipArchive } from './archive.ts';
import type { ZipEntry } from './directory.ts';
import { END_RECORD_LENGTH } from './fields.ts';
import {
  centralRecord,
  type EntryHeader,
  localHeader,
  localLength,
  movedRecord,
  type NewEntry,
  writeEndRecords,
} from './write-records.ts';

export interface ArchiveChange {
  readonly remove: ReadonlySet<ZipEntry>;
  readonly first: readonly (NewEntry | ZipEntry)[];
  /** New entries, keyed by the entry that precedes the new entry, even if the preceding entry is removed. */
  readonly after?: ReadonlyMap<ZipEntry, NewEntry>;
}

export function editArchive(archive: ZipArchive, { remove, first, after = NO_ENTRIES }: ArchiveChange): Patch {
  const moved = new Set(first.filter(isOfArchive));
  const leaves = (entry: ZipEntry): boolean => remove.has(entry) || moved.has(entry);
  const leaving = archive.inFile.filter(leaves);
  const staying = archive.entries.filter((entry) => !leaves(entry));

  const edits = editsOf({ first, after }, archive, leaving);

  const { base } = archive.end;
  const movedBy = shifts(edits);
  const directory: Buffer[] = [];
  const addNew = (item: NewEntry, offset: number): void => {
    directory.push(movedRecord(centralRecord(item), offset - base));
  };
  const addOld = ({ recordStart, recordEnd }: ZipEntry, offset: number): void => {
    directory.push(movedRecord(archive.directory.subarray(recordStart, recordEnd), offset - base));
  };
  let offset = archive.start;
  for (const item of first) {
    if (isOfArchive(item)) addOld(item, offset);
    else addNew(item, offset);
    offset += lengthOf(item);
  }
  for (const entry of after.size === 0 ? staying : archive.entries) {
    if (!leaves(entry)) addOld(entry, movedBy(entry.offset));
    const follower = after.get(entry);
    if (follower !== undefined) addNew(follower, movedBy(entry.end) - localLength(follower));
  }
  return withDirectory(archive, edits, directory);
}

/** Adds the edit that replaces the directory and the end records. */
export function withDirectory({ end }: ZipArchive, edits: readonly ArchiveEdit[], records: readonly Buffer[]): Patch {
  const { base, directoryOffset, recordOffset, record } = end;
  const directory = Buffer.concat(records);
  const newOffset = shifts(edits)(directoryOffset) - base;
  const insert = [directory, writeEndRecords(end, records.length, directory.length, newOffset)];
  return [...edits, { offset: directoryOffset, remove: recordOffset + record.length - directoryOffset, insert }];
}

const NO_ENTRIES: ReadonlyMap<ZipEntry, NewEntry> = new Map();

/** Merges adjacent removals, unless a new entry is inserted between them. */
function editsOf(
  { first, after }: Pick<Required<ArchiveChange>, 'first' | 'after'>,
  { inFile, start }: ZipArchive,
  leaving: readonly ZipEntry[],
): ArchiveEdit[] {
  const isLeaving = new Set(leaving);
  const edits: ArchiveEdit[] = [];
  if (first.length > 0) edits.push({ offset: start, remove: 0, insert: first.flatMap(piecesOf) });
  for (const entry of after.size === 0 ? leaving : inFile) {
    if (isLeaving.has(entry)) {
      const last = edits.at(-1);
      const touches = last !== undefined && last.remove > 0 && last.offset + last.remove === entry.offset;
      const length = entry.end - entry.offset;
      if (touches) edits[edits.length - 1] = { ...last, remove: last.remove + length };
      else edits.push({ offset: entry.offset, remove: length, insert: [] });
    }
    const follower = after.get(entry);
    if (follower !== undefined) edits.push({ offset: entry.end, remove: 0, insert: piecesOf(follower) });
  }
  return edits;
}

export type ArchiveEdit = Edit & { readonly insert: readonly Piece[] };

function isOfArchive(item: NewEntry | ZipEntry): item is ZipEntry {
  return 'recordStart' in item;
}

function piecesOf(item: NewEntry | ZipEntry): Piece[] {
  return isOfArchive(item) ? [{ start: item.offset, end: item.end }] : [localHeader(item), item.data];
}

function lengthOf(item: NewEntry | ZipEntry): number {
  return isOfArchive(item) ? item.end - item.offset : localLength(item);
}

/** Maps offsets in the original to offsets in the edited archive. A replaced entry has the offset of its replacement. */
export function shifts(edits: readonly ArchiveEdit[]): (offset: number) => number {
  let total = 0;
  const steps = edits.map(({ offset, remove, insert }) => {
    total += insert.reduce((sum, piece) => sum + pieceLength(piece), -remove);
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

/** An archive without its last entry, which is the signature. Other entries can have new contents. */
export interface ArchiveBody {
  readonly archive: ZipArchive;
  readonly edits: readonly ArchiveEdit[];
  readonly content: readonly Piece[];
  readonly length: number;
  readonly records: Buffer;
  readonly entryCount: number;
  /** Offset of the removed entry, or of the directory. */
  readonly end: number;
}

export interface ReplacedEntry {
  readonly entry: ZipEntry;
  readonly header: EntryHeader;
  readonly data: readonly Piece[];
}

export function replacedBy(entry: ZipEntry, by: NewEntry): ReplacedEntry {
  return { entry, header: by, data: [by.data] };
}

export function archiveBody(
  archive: ZipArchive,
  leaving?: ZipEntry,
  replaced: readonly ReplacedEntry[] = [],
): ArchiveBody {
  const { directory, end: endOfArchive } = archive;
  const end = leaving?.offset ?? endOfArchive.directoryOffset;
  const edits = replaced
    .toSorted((one, other) => one.entry.offset - other.entry.offset)
    .map(({ entry: { offset, end: entryEnd }, header, data }) => ({
      offset,
      remove: entryEnd - offset,
      insert: [localHeader(header), ...data],
    }));
  const content = [...patchedPieces(edits, end)].filter((piece) => pieceLength(piece) > 0);
  const length = content.reduce((sum, piece) => sum + pieceLength(piece), 0);
  const headers = new Map(replaced.map(({ entry, header }) => [entry, header]));
  const movedBy = shifts(edits);
  const staying = archive.entries.filter((entry) => entry !== leaving);
  const records = staying.map((entry) => {
    const header = headers.get(entry);
    const record = header ? centralRecord(header) : directory.subarray(entry.recordStart, entry.recordEnd);
    const offset = movedBy(entry.offset);
    return header !== undefined || offset !== entry.offset ? movedRecord(record, offset - endOfArchive.base) : record;
  });
  return { archive, edits, content, length, records: Buffer.concat(records), entryCount: staying.length, end };
}

export function tailOf({ archive, records, length, entryCount }: ArchiveBody, last?: NewEntry): readonly Uint8Array[] {
  const { end } = archive;
  if (last === undefined) return [records, writeEndRecords(end, entryCount, records.length, length - end.base)];
  const lastRecord = movedRecord(centralRecord(last), length - end.base);
  const directorySize = records.length + lastRecord.length;
  const directoryOffset = length + localLength(last) - end.base;
  const endRecords = writeEndRecords(end, entryCount + 1, directorySize, directoryOffset);
  return [localHeader(last), last.data, records, lastRecord, endRecords];
}

export function editLastEntry(body: ArchiveBody, last?: NewEntry): Patch {
  const { archive, edits, end } = body;
  const { recordOffset } = archive.end;
  const rest = { offset: end, remove: recordOffset + END_RECORD_LENGTH - end, insert: tailOf(body, last) };
  const before = edits.at(-1);
  if (before === undefined || before.offset + before.remove < end) return [...edits, rest];
  // Combines adjacent edits into one edit, which halves the time for a package of 100 MB.
  const { offset, remove, insert } = before;
  return [...edits.slice(0, -1), { offset, remove: remove + rest.remove, insert: [...insert, ...rest.insert] }];
}
