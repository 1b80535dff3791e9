/** The header of a cabinet (MS-CAB, 2.1 CFHEADER), its reserved area, and the location of its signature. */

import { type ByteSource, slidingWindow } from '../../bytes/byte-source.ts';
import { Cursor } from '../../bytes/cursor.ts';
import { bytesErrors } from '../../bytes/errors.ts';
import type { ByteRange } from '../../bytes/pieces.ts';
import { HAS_RESERVE, HEADER_LENGTH, readNames } from '../../cabinet/directory.ts';
import { cabinetErrors, malformed } from '../../cabinet/errors.ts';
import { CodesignError, expectedError } from '../../errors/codesign-error.ts';
import { formatErrors } from '../../format/errors.ts';
import { CMS_TRACE, hasTrace } from '../trace.ts';

/** Length of the fields cbCFHeader, cbCFFolder and cbCFData, which exist only if a flag is set. */
export const RESERVE_SIZES_LENGTH = 4;
/** The offset and the length of the CMS signature (32 bits each), and 8 zero bytes. */
export const REFERENCE_LENGTH = 16;
const ROOM = 1024 * 1024;
export const MAXIMUM_SIZE = 0xffff_ffff;

export interface CabinetLayout {
  readonly fileSize: number;
  /** Size of the cabinet without the signature (cbCabinet). */
  readonly cabinetSize: number;
  readonly filesOffset: number;
  readonly flags: number;
  readonly reserve: Reserve | undefined;
  /** Byte range that contains the names of the previous and the next cabinet. */
  readonly names: ByteRange;
  readonly folderCount: number;
  readonly folderLength: number;
  readonly signature: ByteRange | undefined;
}

interface Reserve {
  readonly length: number;
  readonly folderLength: number;
  readonly dataLength: number;
  readonly block1: Uint8Array;
  /** The reference to the signature, and zeros up to the end of the reserved area. */
  readonly block2: Uint8Array;
}

export function reserveEnd({ reserve }: Pick<CabinetLayout, 'reserve'>): number {
  return HEADER_LENGTH + (reserve === undefined ? 0 : RESERVE_SIZES_LENGTH + reserve.length);
}

export async function readLayout(source: ByteSource): Promise<CabinetLayout> {
  const { size: fileSize } = source;
  checkEnd(fileSize, 'header', HEADER_LENGTH);
  const header = new Cursor(await source.read(0, HEADER_LENGTH));
  const cabinetSize = header.seek(8, 'cabinet size').u32('cabinet size');
  const filesOffset = header.seek(16, 'file table').u32('file table');
  const folderCount = header.seek(26, 'folder count').u16('folder count');
  const flags = header.seek(30, 'flags').u16('flags');
  if (fileSize + ROOM > MAXIMUM_SIZE) throw tooLarge(fileSize);
  checkEnd(fileSize, 'content', cabinetSize);

  const reserve = (flags & HAS_RESERVE) === 0 ? undefined : await readReserve(source);
  const start = reserveEnd({ reserve });
  const names = { start, end: (await readNames(source, start, flags)).end };
  const folderLength = 8 + (reserve?.folderLength ?? 0);
  const foldersEnd = names.end + folderCount * folderLength;
  if (foldersEnd > filesOffset || filesOffset > cabinetSize) {
    throw malformed(`the file table is at byte ${filesOffset}, not after the folders and before byte ${cabinetSize}`);
  }
  const signature = signatureIn(reserve, cabinetSize, fileSize);
  return { fileSize, cabinetSize, filesOffset, flags, reserve, names, folderCount, folderLength, signature };
}

export async function seemsSigned(source: ByteSource): Promise<boolean> {
  const reserve = await readReserve(source).catch(expectedError);
  const isReferred = !(reserve instanceof CodesignError) && reserve.block2.some((byte) => byte !== 0);
  return isReferred || (await hasTrace(CMS_TRACE)(source));
}

async function readReserve(source: ByteSource): Promise<Reserve> {
  checkEnd(source.size, 'header', HEADER_LENGTH + RESERVE_SIZES_LENGTH);
  const sizes = new Cursor(await source.read(HEADER_LENGTH, RESERVE_SIZES_LENGTH));
  const length = sizes.u16('reserved bytes of the header');
  const folderLength = sizes.u8('reserved bytes of a folder');
  const dataLength = sizes.u8('reserved bytes of a data block');
  const start = HEADER_LENGTH + RESERVE_SIZES_LENGTH;
  checkEnd(source.size, 'reserved area', start + length);
  const bytes = Uint8Array.from(await source.read(start, length));
  const rest = { length, folderLength, dataLength };
  if (bytes.every((byte) => byte === 0)) return { ...rest, block1: bytes.subarray(0, 0), block2: bytes.subarray(4) };
  const lengths = length < 4 ? undefined : new Cursor(bytes);
  const length1 = lengths?.u16('first block') ?? 0;
  const length2 = lengths?.u16('second block') ?? 0;
  if (lengths === undefined || length2 < REFERENCE_LENGTH || 4 + length1 + length2 > length) {
    throw cabinetErrors('cabinet-reserve-in-use', { length });
  }
  return { ...rest, block1: bytes.subarray(4, 4 + length1), block2: bytes.subarray(4 + length1) };
}

function signatureIn(reserve: Reserve | undefined, cabinetSize: number, fileSize: number): ByteRange | undefined {
  const isReferred = reserve?.block2.some((byte) => byte !== 0) ?? false;
  const reference = isReferred && reserve !== undefined ? new Cursor(reserve.block2) : undefined;
  const start = reference?.u32('offset of the signature') ?? cabinetSize;
  const length = reference?.u32('length of the signature') ?? 0;
  if (start !== cabinetSize) throw malformed(`its signature is at byte ${start}, not at its end, byte ${cabinetSize}`);
  const end = start + length;
  checkEnd(fileSize, 'signature', end);
  if (end !== fileSize)
    throw formatErrors('trailing-bytes', { length: fileSize - end, what: 'the cabinet and its signature', end });
  return length === 0 ? undefined : { start, end };
}

function checkEnd(size: number, what: string, end: number): void {
  if (end > size) throw bytesErrors('file-truncated', { size, what: `its ${what}`, end });
}

export const tooLarge = (size: number) =>
  bytesErrors('file-too-large', { size, kind: 'cabinets', limit: MAXIMUM_SIZE });

const BLOCK_HEADER = 8;

/**
 * Checks whether the data blocks of a folder end where the next folder starts. No digest covers cbCFFolder and
 * cbCFData, so a changed value would make programs unpack other bytes.
 */
export async function areReserveSizesRight(
  source: ByteSource,
  { names, folderCount, folderLength, reserve, cabinetSize }: CabinetLayout,
): Promise<boolean> {
  const table = Buffer.from(await source.read(names.end, folderCount * folderLength));
  const folders = Array.from({ length: folderCount }, (_, index) => ({
    start: table.readUInt32LE(index * folderLength),
    blocks: table.readUInt16LE(index * folderLength + 4),
  })).filter(({ blocks }) => blocks > 0);
  // A wrong size moves the end of every folder, so it is enough to check the folder with the fewest blocks.
  const [folder] = folders.toSorted((a, b) => a.blocks - b.blocks);
  if (folder === undefined) return true;
  const window = slidingWindow(source, cabinetSize);
  let end = folder.start;
  for (let block = 0; block < folder.blocks; block += 1) {
    if (end + BLOCK_HEADER > cabinetSize) return false;
    const header = window.view(end, BLOCK_HEADER) ?? (await window.load(end, BLOCK_HEADER));
    end += BLOCK_HEADER + (reserve?.dataLength ?? 0) + header.readUInt16LE(4);
  }
  const starts = folders.map(({ start }) => start).filter((start) => start > folder.start);
  return end === starts.reduce((first, start) => Math.min(first, start), cabinetSize);
}
