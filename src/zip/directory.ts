/** Reads the central directory (APPNOTE 4.3.12). */

import { isUtf8 } from 'node:buffer';
import { crc32 } from 'node:zlib';
import { plural } from '../errors/plural.ts';
import type { EndOfArchive } from './end-record.ts';
import { zipErrors } from './errors.ts';
import {
  CENTRAL_RECORD,
  CENTRAL_RECORD_LENGTH,
  DEFLATED,
  extraFields,
  findExtraField,
  IN_ZIP64_16,
  IN_ZIP64_32,
  readUInt64LE,
  STORED,
  UNREADABLE_FLAGS,
  ZIP64_EXTRA,
} from './fields.ts';

/** `recordStart` and `recordEnd` are offsets in the directory. All other offsets are in the file. */
export interface ZipEntry {
  readonly index: number;
  readonly name: string;
  readonly flags: number;
  readonly method: number;
  readonly crc32: number;
  readonly compressedSize: number;
  readonly size: number;
  readonly offset: number;
  readonly dataOffset: number;
  readonly end: number;
  readonly recordStart: number;
  readonly recordEnd: number;
}

export function isDirectory({ name }: ZipEntry): boolean {
  return name.endsWith('/');
}

/** `dataOffset` and `end` are zero until the local header is read. */
export type DirectoryEntry = { -readonly [Field in keyof ZipEntry]: ZipEntry[Field] };

/** Java 21 and later reject longer records. */
export const LONGEST_RECORD = 0xffff;

export type NameRules = 'strict' | 'any';

export function readDirectory(directory: Buffer, end: EndOfArchive, names: NameRules): DirectoryEntry[] {
  const entries: DirectoryEntry[] = [];
  for (const record of directoryRecords(directory, end)) {
    entries.push(readRecord(directory, record, entries.length, end, names));
  }
  if (entries.length !== end.entryCount) {
    const problem = `its directory has ${plural(entries.length, 'entry', 'entries')}, but its end record says ${end.entryCount}`;
    throw zipErrors('zip-malformed', { problem });
  }
  return entries;
}

interface RecordRange {
  readonly start: number;
  readonly nameStart: number;
  readonly nameEnd: number;
  readonly extraEnd: number;
  readonly end: number;
}

export function* directoryRecords(directory: Buffer, { directoryOffset }: EndOfArchive): Generator<RecordRange> {
  for (let start = 0; start < directory.length; ) {
    const nameStart = start + CENTRAL_RECORD_LENGTH;
    if (nameStart > directory.length || directory.readUInt32LE(start) !== CENTRAL_RECORD) {
      throw zipErrors('zip-malformed', { problem: `there is no directory record at byte ${directoryOffset + start}` });
    }
    const nameEnd = nameStart + directory.readUInt16LE(start + 28);
    const extraEnd = nameEnd + directory.readUInt16LE(start + 30);
    const end = extraEnd + directory.readUInt16LE(start + 32);
    if (end > directory.length) {
      const problem = `the directory record at byte ${directoryOffset + start} is cut off`;
      throw zipErrors('zip-malformed', { problem });
    }
    yield { start, nameStart, nameEnd, extraEnd, end };
    start = end;
  }
}

function readRecord(
  directory: Buffer,
  { start, nameStart, nameEnd, extraEnd, end: recordEnd }: RecordRange,
  index: number,
  { base }: EndOfArchive,
  names: NameRules,
): DirectoryEntry {
  const name = names === 'any' ? readAnyName(directory, nameStart, nameEnd) : readName(directory, nameStart, nameEnd);
  if (recordEnd - start > LONGEST_RECORD) {
    const problem = `is so long that newer versions of Java reject its directory record of ${recordEnd - start} bytes`;
    throw refusedName(name, problem);
  }
  if (extraEnd > nameEnd) {
    checkExtraFields(directory, nameEnd, extraEnd, name);
    rejectOtherUnicodeName(directory, nameStart, nameEnd, extraEnd);
  }
  const fields = readSizes(directory, start, nameEnd, extraEnd, name);
  const flags = directory.readUInt16LE(start + 8);
  const method = directory.readUInt16LE(start + 10);
  checkReadable(name, flags, method, fields);
  return {
    index,
    name,
    flags,
    method,
    crc32: directory.readUInt32LE(start + 16),
    compressedSize: fields.compressedSize,
    size: fields.size,
    offset: base + fields.offset,
    dataOffset: 0,
    end: 0,
    recordStart: start,
    recordEnd,
  };
}

/** As in Java, an extra field must not extend past the end, and a ZIP64 field must have a possible length. */
function checkExtraFields(directory: Buffer, start: number, limit: number, name: string): void {
  for (const { id, start: dataStart, end } of extraFields(directory, start, limit)) {
    const length = end - dataStart;
    if (id === ZIP64_EXTRA && !ZIP64_LENGTHS.includes(length)) {
      const problem = `the entry ${name} has a ZIP64 field of ${plural(length, 'byte')}, at byte ${dataStart - 4} of the directory`;
      throw zipErrors('zip-malformed', { problem });
    }
    if (end > limit)
      throw zipErrors('zip-malformed', { problem: `the entry ${name} has extra fields that are cut off` });
  }
}

/** A ZIP64 field contains the size, the compressed size, the offset and the disk. The last values can be missing. */
const ZIP64_LENGTHS: readonly number[] = [0, 8, 16, 24, 28];

type Sizes = Pick<ZipEntry, 'compressedSize' | 'size' | 'offset'> & { readonly disk: number };

/** The ZIP64 field contains only values that do not fit in their regular fields (4.5.3). */
function readSizes(directory: Buffer, start: number, extraStart: number, extraEnd: number, name: string): Sizes {
  const compressedSize = directory.readUInt32LE(start + 20);
  const size = directory.readUInt32LE(start + 24);
  const disk = directory.readUInt16LE(start + 34);
  const offset = directory.readUInt32LE(start + 42);
  const inZip64 =
    size === IN_ZIP64_32 || compressedSize === IN_ZIP64_32 || offset === IN_ZIP64_32 || disk === IN_ZIP64_16;
  if (!inZip64) return { compressedSize, size, offset, disk };

  const extra = findExtraField(directory, extraStart, extraEnd, ZIP64_EXTRA);
  let position = extra?.start ?? 0;
  const take = (value: number, marker: number, length: 4 | 8): number => {
    if (value !== marker) return value;
    if (extra === undefined || position + length > extra.end) {
      throw zipErrors('zip-malformed', { problem: `the entry ${name} has no ZIP64 field for its sizes or offset` });
    }
    position += length;
    return length === 8 ? readUInt64LE(directory, position - 8) : directory.readUInt32LE(position - 4);
  };
  return {
    size: take(size, IN_ZIP64_32, 8),
    compressedSize: take(compressedSize, IN_ZIP64_32, 8),
    offset: take(offset, IN_ZIP64_32, 8),
    disk: take(disk, IN_ZIP64_16, 4),
  };
}

function checkReadable(name: string, flags: number, method: number, { compressedSize, size, disk }: Sizes): void {
  if (disk !== 0) throw zipErrors('zip-unsupported', { problem: `the entry ${name} is in another part of it` });
  if ((flags & UNREADABLE_FLAGS) !== 0)
    throw zipErrors('zip-unsupported', { problem: `the entry ${name} is encrypted` });
  if (method !== STORED && method !== DEFLATED) {
    throw zipErrors('zip-unsupported', { problem: `the entry ${name} is compressed by method ${method}` });
  }
  if (method === STORED && compressedSize !== size) {
    const problem = `the entry ${name} is not compressed, but has two sizes: ${compressedSize} and ${size}`;
    throw zipErrors('zip-ambiguous', { problem });
  }
}

/** Like Java, decodes UTF-8 even without bit 11. */
function readName(directory: Buffer, start: number, end: number): string {
  const bytes = directory.subarray(start, end);
  const name = bytes.toString('utf8');
  if (['\0', '\n', '\r'].some((each) => name.includes(each)))
    throw refusedName(name, 'contains a line break or a NUL character');
  if (!isUtf8(bytes)) throw refusedName(name, 'is not UTF-8');
  if (name.includes('..') && name.split(/[/\\]/).includes('..')) throw refusedName(name, 'leads out of the archive');
  return name;
}

/** A name that is not UTF-8 is usually in a regional code page, which the archive does not state. */
function readAnyName(directory: Buffer, start: number, end: number): string {
  const bytes = directory.subarray(start, end);
  return bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1');
}

function refusedName(name: string, problem: string) {
  return zipErrors('zip-name-refused', {
    name: JSON.stringify(name.length > 200 ? `${name.slice(0, 200)}…` : name),
    problem,
  });
}

export function indexByName(entries: readonly ZipEntry[]): ReadonlyMap<string, ZipEntry> {
  const byName = new Map<string, ZipEntry>();
  let before = 0;
  for (const entry of entries) {
    const { size } = byName.set(entry.name, entry);
    if (size === before) throw zipErrors('zip-ambiguous', { problem: `it has two entries ${entry.name}` });
    before = size;
  }
  return byName;
}

const UNICODE_PATH_EXTRA = 0x7075;
const VERSION = 1;
/** A version number and a CRC-32 precede the name in the field. */
const NAME_OFFSET = 5;

/** A Unicode Path field is valid if it contains the CRC-32 of the name. The extra fields end at `limit`. */
export function rejectOtherUnicodeName(bytes: Buffer, nameStart: number, nameEnd: number, limit: number): void {
  for (const { id, start, end } of extraFields(bytes, nameEnd, limit)) {
    if (end > limit) return;
    const isUnicodePath = id === UNICODE_PATH_EXTRA && end - start >= NAME_OFFSET && bytes[start] === VERSION;
    if (!isUnicodePath || bytes.readUInt32LE(start + 1) !== crc32(bytes.subarray(nameStart, nameEnd))) continue;
    if (bytes.compare(bytes, start + NAME_OFFSET, end, nameStart, nameEnd) === 0) continue;
    const names = [bytes.toString('utf8', nameStart, nameEnd), bytes.toString('utf8', start + NAME_OFFSET, end)];
    throw zipErrors('zip-ambiguous', { problem: `an entry has two names, ${names.join(' and ')}` });
  }
}
