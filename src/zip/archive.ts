import { type ByteSource, slidingWindow } from '../bytes/byte-source.ts';
import {
  type DirectoryEntry,
  directoryRecords,
  indexByName,
  type NameRules,
  readDirectory,
  rejectOtherUnicodeName,
  type ZipEntry,
} from './directory.ts';
import { type EndOfArchive, findEndOfArchive } from './end-record.ts';
import { zipErrors } from './errors.ts';
import {
  asBuffer,
  CENTRAL_RECORD_LENGTH,
  DATA_DESCRIPTOR,
  findExtraField,
  HAS_DESCRIPTOR,
  IN_ZIP64_32,
  LOCAL_HEADER,
  LOCAL_HEADER_LENGTH,
  readUInt64LE,
  ZIP64_EXTRA,
} from './fields.ts';

export interface ZipArchive {
  readonly end: EndOfArchive;
  readonly directory: Buffer;
  readonly entries: readonly ZipEntry[];
  readonly inFile: readonly ZipEntry[];
  readonly byName: ReadonlyMap<string, ZipEntry>;
  readonly start: number;
}

const LARGEST_DIRECTORY = 128 * 1024 * 1024;

/** With `any`, accepts names that a signed archive cannot contain, and several entries with the same name. */
export async function readArchive(source: ByteSource, names: NameRules = 'strict'): Promise<ZipArchive> {
  const end = await findEndOfArchive(source);
  if (end.directorySize > LARGEST_DIRECTORY) {
    throw zipErrors('zip-unsupported', { problem: `its directory has ${end.directorySize} bytes` });
  }
  const directory = asBuffer(await source.read(end.directoryOffset, end.directorySize));
  const entries = readDirectory(directory, end, names);
  const byName = names === 'any' ? new Map(entries.map((entry) => [entry.name, entry])) : indexByName(entries);
  const inFile = await locateEntries(source, directory, entries, end);
  return { end, directory, entries, inFile, byName, start: inFile[0]?.offset ?? end.directoryOffset };
}

/**
 * Reads the directory, and returns the names that show the type of an archive: all names in the root and in `folders`,
 * and the name of one class file. The names of `folders` are in lower case, and end with `/`.
 */
export async function readKindNames(source: ByteSource, folders: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const end = await findEndOfArchive(source);
  const names = new Set<string>();
  if (end.directorySize > LARGEST_DIRECTORY) return names;
  const directory = asBuffer(await source.read(end.directoryOffset, end.directorySize));
  let hasClass = false;
  for (const { nameStart, nameEnd } of directoryRecords(directory, end)) {
    const slash = directory.subarray(nameStart, nameEnd).indexOf('/');
    const folder = directory.toString('latin1', nameStart, nameStart + slash + 1).toLowerCase();
    const isFirstClass: boolean = !hasClass && directory.toString('latin1', nameEnd - 6, nameEnd) === '.class';
    hasClass ||= isFirstClass;
    if (slash < 0 || isFirstClass || folders.has(folder)) names.add(directory.toString('utf8', nameStart, nameEnd));
  }
  return names;
}

const LONGEST_DESCRIPTOR = 24;
const SIGNATURE_LENGTH = 4;

/**
 * Compares each local header (APPNOTE 4.3.7) with the directory, because some programs read only local headers, and
 * others only the directory. Returns the entries in the order of the file.
 */
async function locateEntries(
  source: ByteSource,
  directory: Buffer,
  entries: readonly DirectoryEntry[],
  { base, directoryOffset: limit }: EndOfArchive,
): Promise<readonly ZipEntry[]> {
  const inFile = entries.toSorted((a, b) => a.offset - b.offset);
  const { view, load } = slidingWindow(source, limit);
  // For nearly all entries, `view` returns bytes that are already in memory, so no read is necessary.
  const rejectHidden = async (from: number, to: number): Promise<void> => {
    const length = Math.min(to - from, SIGNATURE_LENGTH);
    rejectHiddenEntry(view(from, length) ?? (await load(from, length)), from);
  };
  // Other data precedes an archive that starts at `base`.
  if (base > 0) await rejectHidden(base, inFile[0]?.offset ?? limit);
  let previousEnd = 0;
  for (const [position, entry] of inFile.entries()) {
    if (entry.offset + LOCAL_HEADER_LENGTH > limit) throw leadsNowhere(entry);
    if (entry.offset > previousEnd) await rejectHidden(previousEnd, entry.offset);
    const fixed = view(entry.offset, LOCAL_HEADER_LENGTH) ?? (await load(entry.offset, LOCAL_HEADER_LENGTH));
    if (fixed.readUInt32LE(0) !== LOCAL_HEADER) throw leadsNowhere(entry);
    const headerLength = LOCAL_HEADER_LENGTH + fixed.readUInt16LE(26) + fixed.readUInt16LE(28);
    entry.dataOffset = entry.offset + headerLength;
    const dataEnd = entry.dataOffset + entry.compressedSize;
    const spaceEnd = Math.min(inFile[position + 1]?.offset ?? limit, limit);
    if (dataEnd > spaceEnd) throw overrun(entry, dataEnd, limit);
    const header = view(entry.offset, headerLength) ?? (await load(entry.offset, headerLength));
    entry.end = dataEnd;
    if (compareHeader(header, directory, entry)) {
      const room = spaceEnd - dataEnd;
      const length = Math.min(LONGEST_DESCRIPTOR, room);
      entry.end += descriptorLength(view(dataEnd, length) ?? (await load(dataEnd, length)), entry, room);
    }
    previousEnd = entry.end;
  }
  if (limit > previousEnd) await rejectHidden(previousEnd, limit);
  return inFile;
}

/** Returns true if a data descriptor follows the data. Throws if the header and the directory differ. */
function compareHeader(header: Buffer, directory: Buffer, entry: DirectoryEntry): boolean {
  const nameStart = entry.recordStart + CENTRAL_RECORD_LENGTH;
  const nameLength = directory.readUInt16LE(entry.recordStart + 28);
  const headerNameEnd = LOCAL_HEADER_LENGTH + nameLength;
  if (
    header.readUInt16LE(26) !== nameLength ||
    header.compare(directory, nameStart, nameStart + nameLength, LOCAL_HEADER_LENGTH, headerNameEnd) !== 0
  ) {
    throw differs(entry, 'another name');
  }
  if (header.length > headerNameEnd) rejectOtherUnicodeName(header, LOCAL_HEADER_LENGTH, headerNameEnd, header.length);
  if (header.readUInt16LE(8) !== entry.method) throw differs(entry, 'another compression method');
  const flags = header.readUInt16LE(6);
  if (((flags ^ entry.flags) & 1) !== 0) throw differs(entry, 'another encryption flag');
  if ((flags & HAS_DESCRIPTOR) !== 0) return true;
  checkSameSizes(header, entry);
  return false;
}

function leadsNowhere({ offset, name }: DirectoryEntry) {
  const problem = `the directory points to byte ${offset} for ${name}, but there is no entry`;
  return zipErrors('zip-malformed', { problem });
}

/** The data of an entry must end before the directory and before the next entry. */
function overrun({ name }: DirectoryEntry, dataEnd: number, limit: number) {
  if (dataEnd <= limit) return zipErrors('zip-ambiguous', { problem: `the entry ${name} overlaps the next one` });
  const problem = `the data of ${name} would end at byte ${dataEnd}, but the directory begins at byte ${limit}`;
  return zipErrors('zip-malformed', { problem });
}

function checkSameSizes(header: Buffer, entry: DirectoryEntry): void {
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
 * A data descriptor has four forms: with or without a signature, and with sizes of 32 or 64 bits (4.3.9). Only the
 * values show which form a descriptor has. If several forms fit, prefers the form that ends where the next record
 * begins.
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

/** Programs that read an archive from its start would find a hidden entry. */
function rejectHiddenEntry(bytes: Buffer, offset: number): void {
  if (bytes.length === SIGNATURE_LENGTH && bytes.readUInt32LE(0) === LOCAL_HEADER) {
    const problem = `there is an entry at byte ${offset} that the directory does not list`;
    throw zipErrors('zip-ambiguous', { problem });
  }
}

function differs({ name }: DirectoryEntry, what: string) {
  const problem = `the local header of ${name} has ${what} than the directory`;
  return zipErrors('zip-ambiguous', { problem });
}
