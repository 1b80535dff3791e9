import type { ByteSource } from '../bytes/byte-source.ts';
import { Cursor } from '../bytes/cursor.ts';
import { malformed } from './errors.ts';

export interface Cabinet {
  readonly source: ByteSource;
  readonly setId: number;
  readonly number: number;
  readonly previous: string | undefined;
  readonly next: string | undefined;
  readonly blockReserve: number;
  readonly folders: readonly CabinetFolder[];
  readonly files: readonly CabinetFile[];
}

export interface CabinetFolder {
  readonly dataOffset: number;
  readonly blockCount: number;
  /** The compression method in the lowest four bits, and its parameters (typeCompress). */
  readonly compression: number;
}

export interface CabinetFile {
  readonly name: string;
  readonly size: number;
  readonly offset: number;
  readonly folder: number;
  readonly isFromPrevious: boolean;
  readonly isToNext: boolean;
}

export const HEADER_LENGTH = 36;
const FOLDER_LENGTH = 8;
const FILE_LENGTH = 16;
const HAS_PREVIOUS = 1;
const HAS_NEXT = 2;
export const HAS_RESERVE = 4;
/** Longest name of a file or a cabinet, including the NUL at its end. */
const LONGEST_NAME = 257;
const UTF8_NAME = 0x80;
const FROM_PREVIOUS = 0xfffd;
const TO_NEXT = 0xfffe;
const FROM_PREVIOUS_TO_NEXT = 0xffff;

/** Reads the header and the lists of folders and files (MS-CAB, 2.1 to 2.3). */
export async function readCabinet(source: ByteSource): Promise<Cabinet> {
  if (source.size < HEADER_LENGTH) throw malformed('its header is cut off');
  const header = new Cursor(await source.read(0, HEADER_LENGTH));
  if (header.u32('signature') !== 0x4643534d) throw malformed('it does not begin with MSCF');
  const filesOffset = header.seek(16, 'file table').u32('file table');
  const folderCount = header.seek(26, 'folder count').u16('folder count');
  const fileCount = header.u16('file count');
  const flags = header.u16('flags');
  const [setId, number] = [header.u16('set'), header.u16('number')];
  const reserveLengths = (flags & HAS_RESERVE) === 0 ? Buffer.alloc(4) : await readPart(source, HEADER_LENGTH, 4);
  const afterReserve =
    HEADER_LENGTH + ((flags & HAS_RESERVE) === 0 ? 0 : reserveLengths.length + reserveLengths.readUInt16LE(0));
  const names = await readNames(source, afterReserve, flags);
  const folderLength = FOLDER_LENGTH + reserveLengths.readUInt8(2);
  const table = await readPart(source, names.end, folderCount * folderLength);
  const folders = Array.from({ length: folderCount }, (_, index): CabinetFolder => {
    const at = index * folderLength;
    return {
      dataOffset: table.readUInt32LE(at),
      blockCount: table.readUInt16LE(at + 4),
      compression: table.readUInt16LE(at + 6),
    };
  });
  const files = await readFiles(source, filesOffset, fileCount, folderCount);
  const { previous, next } = names;
  return { source, setId, number, previous, next, blockReserve: reserveLengths.readUInt8(3), folders, files };
}

/** Reads the names of the previous and the next cabinet, each of which is followed by the name of its disk. */
export async function readNames(source: ByteSource, start: number, flags: number) {
  const bytes = await readUpTo(source, start, 4 * LONGEST_NAME);
  let at = 0;
  const name = (): string => {
    const end = bytes.indexOf(0, at);
    if (end < 0) throw malformed('the name of a neighbouring cabinet does not end');
    const text = bytes.toString('latin1', at, end);
    at = end + 1;
    return text;
  };
  const pair = (flag: number): string | undefined => ((flags & flag) === 0 ? undefined : [name(), name()][0]);
  const [previous, next] = [pair(HAS_PREVIOUS), pair(HAS_NEXT)];
  return { previous, next, end: start + at };
}

async function readFiles(
  source: ByteSource,
  start: number,
  count: number,
  folderCount: number,
): Promise<readonly CabinetFile[]> {
  const bytes = await readUpTo(source, start, count * (FILE_LENGTH + LONGEST_NAME));
  const files: CabinetFile[] = [];
  for (let at = 0; files.length < count; ) {
    const end = at + FILE_LENGTH < bytes.length ? bytes.indexOf(0, at + FILE_LENGTH) : -1;
    const length = end - at - FILE_LENGTH;
    if (end < 0 || length < 1 || length >= LONGEST_NAME)
      throw malformed(`the record of file ${files.length + 1} is damaged`);
    const index = bytes.readUInt16LE(at + 8);
    const isFromPrevious = index === FROM_PREVIOUS || index === FROM_PREVIOUS_TO_NEXT;
    const isToNext = index === TO_NEXT || index === FROM_PREVIOUS_TO_NEXT;
    const folder = isFromPrevious ? 0 : isToNext ? folderCount - 1 : index;
    const isUtf8 = (bytes.readUInt16LE(at + 14) & UTF8_NAME) !== 0;
    const name = bytes.toString(isUtf8 ? 'utf8' : 'latin1', at + FILE_LENGTH, end).replaceAll('\\', '/');
    if (folder < 0 || folder >= folderCount) throw malformed(`the file ${name} is in a folder that does not exist`);
    const [size, offset] = [bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4)];
    files.push({ name, size, offset, folder, isFromPrevious, isToNext });
    at = end + 1;
  }
  return files;
}

async function readPart(source: ByteSource, offset: number, length: number): Promise<Buffer> {
  const bytes = await readUpTo(source, offset, length);
  if (bytes.length < length) throw malformed(`it ends before byte ${offset + length}`);
  return bytes;
}

async function readUpTo(source: ByteSource, offset: number, length: number): Promise<Buffer> {
  return Buffer.from(await source.read(offset, Math.max(0, Math.min(length, source.size - offset))));
}
