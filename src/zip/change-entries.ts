/**
 * Changes the contents of entries in a ZIP archive. A changed entry keeps its name, times, attributes, extra fields,
 * compression method and position. In the records of all other entries, only the offsets change.
 */

import { crc32, createDeflateRaw } from 'node:zlib';
import type { ByteSource } from '../bytes/byte-source.ts';
import { through } from '../bytes/forward-source.ts';
import { type ByteRange, isBytes, type Patch, type Piece, pieceLength, readPieces } from '../bytes/pieces.ts';
import type { ZipArchive } from './archive.ts';
import type { ZipEntry } from './directory.ts';
import { type ArchiveEdit, shifts, withDirectory } from './edit-archive.ts';
import { zipErrors } from './errors.ts';
import {
  asBuffer,
  CENTRAL_RECORD_LENGTH,
  findExtraField,
  HAS_DESCRIPTOR,
  IN_ZIP64_32,
  LOCAL_HEADER_LENGTH,
  ZIP64_EXTRA,
} from './fields.ts';
import { movedRecord } from './write-records.ts';

export interface ChangedContents {
  readonly crc32: number;
  readonly size: number;
  readonly data: readonly Piece[];
}

/** With fixed settings, the same contents always give the same bytes. */
const DEFLATE = { level: 6, memLevel: 8, chunkSize: 256 * 1024 } as const;

export async function deflated(contents: ByteSource): Promise<ChangedContents> {
  let checksum = 0;
  let size = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of contents.stream()) {
      checksum = crc32(chunk, checksum);
      size += chunk.length;
      yield chunk;
    }
  }
  const data: Buffer[] = [];
  for await (const piece of through({ stream: counted }, createDeflateRaw(DEFLATE))) data.push(piece);
  return { crc32: checksum, size, data };
}

/** Copies no contents into memory. A range in `pieces` is a range of the entry's contents. */
export async function stored(
  source: ByteSource,
  { dataOffset }: ZipEntry,
  pieces: Iterable<Piece>,
): Promise<ChangedContents> {
  const moved = ({ start, end }: ByteRange): ByteRange => ({ start: start + dataOffset, end: end + dataOffset });
  const data = Array.from(pieces, (piece) => (isBytes(piece) ? piece : moved(piece)));
  let checksum = 0;
  for await (const chunk of readPieces(source, data)) checksum = crc32(chunk, checksum);
  return { crc32: checksum, size: lengthOf(data), data };
}

/** Keeps the bytes before, between and after the records. */
export async function changeEntries(
  source: ByteSource,
  archive: ZipArchive,
  changed: ReadonlyMap<ZipEntry, ChangedContents>,
): Promise<Patch> {
  const edits: ArchiveEdit[] = [];
  for (const [entry, contents] of [...changed].sort(([one], [other]) => one.offset - other.offset)) {
    const header = asBuffer(await source.read(entry.offset, entry.dataOffset - entry.offset));
    const insert = [changedHeader(header, LOCAL, contents, entry), ...contents.data];
    edits.push({ offset: entry.offset, remove: entry.end - entry.offset, insert });
  }
  const { base } = archive.end;
  const movedBy = shifts(edits);
  const records = archive.entries.map((entry) => {
    const record = archive.directory.subarray(entry.recordStart, entry.recordEnd);
    const contents = changed.get(entry);
    const offset = movedBy(entry.offset);
    if (contents !== undefined) return movedRecord(changedHeader(record, CENTRAL, contents, entry), offset - base);
    return offset === entry.offset ? record : movedRecord(record, offset - base);
  });
  return withDirectory(archive, edits, records);
}

interface RecordFields {
  readonly flags: number;
  readonly crc32: number;
  readonly nameLength: number;
  readonly length: number;
}
const LOCAL: RecordFields = { flags: 6, crc32: 14, nameLength: 26, length: LOCAL_HEADER_LENGTH };
const CENTRAL: RecordFields = { flags: 8, crc32: 16, nameLength: 28, length: CENTRAL_RECORD_LENGTH };

/** General purpose bits 1 and 2 describe the compression level. */
const COMPRESSION_LEVEL = (1 << 1) | (1 << 2);

/** Returns the record with new sizes in 32-bit fields. No data descriptor follows, because the header has the sizes. */
function changedHeader(
  record: Buffer,
  { flags, crc32: checksum, nameLength, length }: RecordFields,
  contents: ChangedContents,
  { name }: ZipEntry,
): Buffer {
  const compressedSize = lengthOf(contents.data);
  if (contents.size >= IN_ZIP64_32 || compressedSize >= IN_ZIP64_32) {
    throw zipErrors('zip-unsupported', { problem: `the changed entry ${name} would have 4 GiB or more` });
  }
  const extraStart = length + record.readUInt16LE(nameLength);
  const extraEnd = extraStart + record.readUInt16LE(nameLength + 2);
  const extra = withoutZip64(record, extraStart, extraEnd);
  const header = Buffer.concat([record.subarray(0, extraStart), extra, record.subarray(extraEnd)]);
  header.writeUInt16LE(record.readUInt16LE(flags) & ~(HAS_DESCRIPTOR | COMPRESSION_LEVEL), flags);
  header.writeUInt32LE(contents.crc32, checksum);
  header.writeUInt32LE(compressedSize, checksum + 4);
  header.writeUInt32LE(contents.size, checksum + 8);
  header.writeUInt16LE(extra.length, nameLength + 2);
  // Removes the marker that refers to the ZIP64 field. `movedRecord` sets the offset.
  if (length === CENTRAL_RECORD_LENGTH) header.writeUInt32LE(0, OFFSET_FIELD);
  return header;
}

const OFFSET_FIELD = 42;

function withoutZip64(record: Buffer, start: number, limit: number): Buffer {
  const field = findExtraField(record, start, limit, ZIP64_EXTRA);
  if (field === undefined) return record.subarray(start, limit);
  return Buffer.concat([record.subarray(start, field.start - 4), record.subarray(field.end, limit)]);
}

function lengthOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, piece) => sum + pieceLength(piece), 0);
}
