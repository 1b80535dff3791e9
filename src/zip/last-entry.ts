/**
 * Changes an archive whose signature is its last entry, in the file and in the directory. The last entry is replaced,
 * and other entries may get new contents in place. Every other record stays the same, byte for byte.
 */

import { type Patch, type Piece, patchedPieces, pieceLength } from '../bytes/pieces.ts';
import type { ZipArchive } from './archive.ts';
import type { ZipEntry } from './directory.ts';
import { type ArchiveEdit, shifts } from './edit-archive.ts';
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

export interface ArchiveBody {
  readonly archive: ZipArchive;
  readonly edits: readonly ArchiveEdit[];
  /** Everything before the last entry, in file order. */
  readonly content: readonly Piece[];
  readonly length: number;
  /** Directory records of all entries except the last, with their new offsets. */
  readonly records: Buffer;
  readonly entryCount: number;
  /** Offset in the original file of the last entry, or of the directory if no entry is removed. */
  readonly end: number;
}

export interface ReplacedEntry {
  readonly entry: ZipEntry;
  readonly header: EntryHeader;
  /** Has the length that `header` states. */
  readonly data: readonly Piece[];
}

export function replacedBy(entry: ZipEntry, by: NewEntry): ReplacedEntry {
  return { entry, header: by, data: [by.data] };
}

/** Returns the archive without its last entry. `leaving` is that entry, if it is removed. */
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

/** Returns the last entry, if there is one, the directory, and the end records without the comment. */
export function tailOf({ archive, records, length, entryCount }: ArchiveBody, last?: NewEntry): readonly Uint8Array[] {
  const { end } = archive;
  if (last === undefined) return [records, writeEndRecords(end, entryCount, records.length, length - end.base)];
  const lastRecord = movedRecord(centralRecord(last), length - end.base);
  const directorySize = records.length + lastRecord.length;
  const directoryOffset = length + localLength(last) - end.base;
  const endRecords = writeEndRecords(end, entryCount + 1, directorySize, directoryOffset);
  return [localHeader(last), last.data, records, lastRecord, endRecords];
}

/** Returns the edits. The comment of the archive and the bytes after it stay. */
export function editLastEntry(body: ArchiveBody, last?: NewEntry): Patch {
  const { archive, edits, end } = body;
  const { recordOffset } = archive.end;
  const rest = { offset: end, remove: recordOffset + END_RECORD_LENGTH - end, insert: tailOf(body, last) };
  const before = edits.at(-1);
  if (before === undefined || before.offset + before.remove < end) return [...edits, rest];
  // A single edit up to the end moves nothing. A package of 100 MB is then copied and digested in one pass, in half the
  // time.
  const { offset, remove, insert } = before;
  return [...edits.slice(0, -1), { offset, remove: remove + rest.remove, insert: [...insert, ...rest.insert] }];
}
