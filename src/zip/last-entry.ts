/**
 * Changing an archive whose signature is its last entry, in the file and in the directory: another one comes last, and one
 * entry may get other contents in its place. Every other record stays as it is, byte for byte.
 */

import type { Patch } from '../bytes/patch.ts';
import { type Piece, pieceLength } from '../bytes/pieces.ts';
import type { ZipArchive } from './archive.ts';
import type { ZipEntry } from './directory.ts';
import { END_RECORD_LENGTH } from './fields.ts';
import { centralRecord, localHeader, localLength, type NewEntry } from './new-entry.ts';
import { movedRecord, writeEndRecords } from './write-directory.ts';

export interface ArchiveBody {
  readonly archive: ZipArchive;
  readonly replaced: ReplacedEntry | undefined;
  /** Everything before the last entry, in the order of the file. */
  readonly content: readonly Piece[];
  /** Length of that, in bytes. */
  readonly length: number;
  /** The directory records of all entries but the last one, with the offsets that they have then. */
  readonly records: Buffer;
  readonly entryCount: number;
  /** Where the last entry, or the directory if none leaves, begins in the file as it is. */
  readonly end: number;
}

export interface ReplacedEntry {
  readonly entry: ZipEntry;
  readonly by: NewEntry;
}

/** The archive without what is to come last. `leaving`: the last entry of the file and of the directory, if it goes. */
export function archiveBody(archive: ZipArchive, leaving?: ZipEntry, replaced?: ReplacedEntry): ArchiveBody {
  const { directory, end: endOfArchive } = archive;
  const end = leaving?.offset ?? endOfArchive.directoryOffset;
  const content = replaced === undefined ? [{ start: 0, end }] : around(replaced, end);
  const length = content.reduce((sum, piece) => sum + pieceLength(piece), 0);
  const staying = archive.entries.filter((entry) => entry !== leaving);
  const records = staying.map((entry) => {
    const isNew = entry === replaced?.entry;
    const record = isNew ? centralRecord(replaced.by) : directory.subarray(entry.recordStart, entry.recordEnd);
    const shift = replaced !== undefined && entry.offset > replaced.entry.offset ? length - end : 0;
    return isNew || shift !== 0 ? movedRecord(record, entry.offset + shift - endOfArchive.base) : record;
  });
  return { archive, replaced, content, length, records: Buffer.concat(records), entryCount: staying.length, end };
}

function around({ entry, by }: ReplacedEntry, end: number): readonly Piece[] {
  const behind = entry.end === end ? [] : [{ start: entry.end, end }];
  return [{ start: 0, end: entry.offset }, localHeader(by), by.data, ...behind];
}

/** What follows the body: the last entry if there is one, the directory, and the end records without the comment. */
export function tailOf({ archive, records, length, entryCount }: ArchiveBody, last?: NewEntry): readonly Uint8Array[] {
  const { end } = archive;
  const record = Buffer.from(end.record);
  // The disks. Some programs leave them to a ZIP64 record too; signtool, and verifiers that follow it, have 0 there.
  record.fill(0, 4, 8);
  const before = { ...end, record };
  if (last === undefined) return [records, writeEndRecords(before, entryCount, records.length, length - end.base)];
  const lastRecord = movedRecord(centralRecord(last), length - end.base);
  const directorySize = records.length + lastRecord.length;
  const directoryOffset = length + localLength(last) - end.base;
  const endRecords = writeEndRecords(before, entryCount + 1, directorySize, directoryOffset);
  return [localHeader(last), last.data, records, lastRecord, endRecords];
}

/** The edits. The comment of the archive, and what follows it, stay. */
export function editLastEntry(body: ArchiveBody, last?: NewEntry): Patch {
  const { archive, replaced, end } = body;
  const { recordOffset } = archive.end;
  const rest = { offset: end, remove: recordOffset + END_RECORD_LENGTH - end, insert: tailOf(body, last) };
  if (replaced === undefined) return [rest];
  const { entry, by } = replaced;
  const insert = [localHeader(by), by.data];
  const remove = entry.end - entry.offset;
  if (entry.end < end) return [{ offset: entry.offset, remove, insert }, rest];
  // One edit up to the end moves nothing: the copy of a package of 100 MB is then written and digested once, in half the time.
  return [{ offset: entry.offset, remove: remove + rest.remove, insert: [...insert, ...rest.insert] }];
}
