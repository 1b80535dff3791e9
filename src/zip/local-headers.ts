/**
 * Comparing each entry's local header (APPNOTE 4.3.7) with its directory record, and measuring how far its record
 * reaches. A program that reads an archive from its beginning sees local headers, one that reads the directory does not:
 * both must see the same entries.
 */

import type { ByteSource } from '../bytes/byte-source.ts';
import type { DirectoryEntry } from './directory.ts';
import type { ZipEntry } from './entry.ts';
import { zipErrors } from './errors.ts';
import {
  asBuffer,
  DATA_DESCRIPTOR,
  findExtraField,
  HAS_DESCRIPTOR,
  IN_ZIP64_32,
  LOCAL_HEADER,
  LOCAL_HEADER_LENGTH,
  readUInt64LE,
  ZIP64_EXTRA,
} from './fields.ts';

export interface LocatedEntries {
  /** In the directory's order. */
  readonly entries: readonly ZipEntry[];
  /** The same, in the order of their places in the file. */
  readonly inFile: readonly ZipEntry[];
}

const WINDOW_LENGTH = 256 * 1024;
const LONGEST_DESCRIPTOR = 24;

/** Reads the headers in the order they stand. `limit`: where the directory begins. Throws `zip-malformed`, `zip-ambiguous`. */
export async function locateEntries(
  source: ByteSource,
  directory: Buffer,
  directoryEntries: readonly DirectoryEntry[],
  limit: number,
): Promise<LocatedEntries> {
  const order = [...directoryEntries.keys()].sort((a, b) => offsetOf(a) - offsetOf(b));
  function offsetOf(index: number): number {
    return directoryEntries[index]?.offset ?? 0;
  }

  const window = slidingWindow(source, limit);
  const entries: ZipEntry[] = new Array(directoryEntries.length);
  const inFile: ZipEntry[] = [];
  let previousEnd = 0;
  for (const [position, index] of order.entries()) {
    const entry = directoryEntries[index] as DirectoryEntry;
    const next = order[position + 1];
    const roomEnd = next === undefined ? limit : offsetOf(next);
    if (entry.offset + LOCAL_HEADER_LENGTH > limit) throw leadsNowhere(entry);
    await refuseHiddenEntry(window, previousEnd, entry.offset);
    const located = await locateEntry(window, directory, entry, roomEnd);
    entries[index] = located;
    inFile.push(located);
    previousEnd = located.end;
  }
  await refuseHiddenEntry(window, previousEnd, limit);
  return { entries, inFile };
}

interface SlidingWindow {
  readonly limit: number;
  /** Up to `length` bytes from `offset`, fewer at the limit: valid until the next call. */
  at(offset: number, length: number): Buffer | Promise<Buffer>;
}

/** Reads on in large pieces, so that a header costs no system call of its own. */
function slidingWindow(source: ByteSource, limit: number): SlidingWindow {
  let start = 0;
  let bytes: Buffer = Buffer.alloc(0);
  const view = (offset: number, length: number): Buffer => bytes.subarray(offset - start, offset - start + length);
  const load = async (offset: number, length: number): Promise<Buffer> => {
    start = offset;
    bytes = asBuffer(await source.read(offset, Math.min(Math.max(length, WINDOW_LENGTH), limit - offset)));
    return view(offset, length);
  };
  return {
    limit,
    at(offset, length) {
      const wanted = Math.min(length, limit - offset);
      return offset >= start && offset + wanted <= start + bytes.length ? view(offset, wanted) : load(offset, wanted);
    },
  };
}

async function locateEntry(
  window: SlidingWindow,
  directory: Buffer,
  entry: DirectoryEntry,
  roomEnd: number,
): Promise<ZipEntry> {
  const nameStart = entry.record.start + 46;
  const nameLength = directory.readUInt16LE(entry.record.start + 28);
  const fixed = await window.at(entry.offset, LOCAL_HEADER_LENGTH);
  if (fixed.readUInt32LE(0) !== LOCAL_HEADER) throw leadsNowhere(entry);
  const headerLength = LOCAL_HEADER_LENGTH + fixed.readUInt16LE(26) + fixed.readUInt16LE(28);
  const header = await window.at(entry.offset, headerLength);
  const dataOffset = entry.offset + headerLength;
  const dataEnd = dataOffset + entry.compressedSize;
  if (dataEnd > roomEnd) throw overrun(entry, dataEnd, window.limit);
  if (
    header.readUInt16LE(26) !== nameLength ||
    header.compare(
      directory,
      nameStart,
      nameStart + nameLength,
      LOCAL_HEADER_LENGTH,
      LOCAL_HEADER_LENGTH + nameLength,
    ) !== 0
  ) {
    throw differs(entry, 'another name');
  }
  if (header.readUInt16LE(8) !== entry.method) throw differs(entry, 'another compression method');
  const localFlags = header.readUInt16LE(6);
  if (((localFlags ^ entry.flags) & 1) !== 0) throw differs(entry, 'another encryption flag');
  if ((localFlags & HAS_DESCRIPTOR) === 0) {
    requireSameSizes(header, entry);
    return { ...entry, dataOffset, end: dataEnd };
  }
  const descriptor = await window.at(dataEnd, Math.min(LONGEST_DESCRIPTOR, roomEnd - dataEnd));
  return { ...entry, dataOffset, end: dataEnd + descriptorLength(descriptor, entry, roomEnd - dataEnd) };
}

function leadsNowhere({ offset, name }: DirectoryEntry) {
  const problem = `the directory leads to byte ${offset} for ${name}, where no entry is`;
  return zipErrors('zip-malformed', { problem });
}

/** The data of an entry ends before the directory begins, and before another entry does. */
function overrun({ name }: DirectoryEntry, dataEnd: number, limit: number) {
  if (dataEnd <= limit) return zipErrors('zip-ambiguous', { problem: `the entry ${name} overlaps the one behind it` });
  const problem = `the data of ${name} would end at byte ${dataEnd}, behind byte ${limit}, where the directory begins`;
  return zipErrors('zip-malformed', { problem });
}

function requireSameSizes(header: Buffer, entry: DirectoryEntry): void {
  if (header.readUInt32LE(14) !== entry.crc32) throw differs(entry, 'another CRC-32');
  const nameLength = header.readUInt16LE(26);
  const extra = findExtraField(header, LOCAL_HEADER_LENGTH + nameLength, header.length, ZIP64_EXTRA);
  let position = extra?.start ?? 0;
  const take = (value: number): number => {
    if (value !== IN_ZIP64_32 || extra === undefined || position + 8 > extra.end) return value;
    position += 8;
    return readUInt64LE(header, position - 8);
  };
  const size = take(header.readUInt32LE(22));
  const compressedSize = take(header.readUInt32LE(18));
  if (size !== entry.size || compressedSize !== entry.compressedSize) throw differs(entry, 'other sizes');
}

/**
 * Length of the data descriptor: its signature is optional, its sizes have 32 or 64 bits, and only its values tell
 * (4.3.9). Where two fit, the one that ends where the next record begins; then the shorter one.
 */
function descriptorLength(bytes: Buffer, entry: DirectoryEntry, room: number): number {
  const hasSignature = bytes.length >= 4 && bytes.readUInt32LE(0) === DATA_DESCRIPTOR;
  const fitting: number[] = [];
  for (const start of hasSignature ? [4, 0] : [0]) {
    if (bytes.length < start + 12 || bytes.readUInt32LE(start) !== entry.crc32) continue;
    if (bytes.readUInt32LE(start + 4) === entry.compressedSize && bytes.readUInt32LE(start + 8) === entry.size) {
      fitting.push(start + 12);
    }
    if (
      bytes.length >= start + 20 &&
      readUInt64LE(bytes, start + 4) === entry.compressedSize &&
      readUInt64LE(bytes, start + 12) === entry.size
    ) {
      fitting.push(start + 20);
    }
  }
  const length = fitting.includes(room) ? room : fitting[0];
  if (length === undefined) throw differs(entry, 'a data descriptor with other values');
  return length;
}

/** A local header where the directory names no entry: what reads from the beginning sees one more. */
async function refuseHiddenEntry(window: SlidingWindow, start: number, end: number): Promise<void> {
  if (end - start < 4) return;
  const bytes = await window.at(start, 4);
  if (bytes.length === 4 && bytes.readUInt32LE(0) === LOCAL_HEADER) {
    throw zipErrors('zip-ambiguous', { problem: `at byte ${start} is an entry that the directory does not name` });
  }
}

function differs({ name }: DirectoryEntry, what: string) {
  return zipErrors('zip-ambiguous', {
    problem: `the entry ${name} has ${what} in its own header than in the directory`,
  });
}
