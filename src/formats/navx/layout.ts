import type { ByteSource } from '../../bytes/byte-source.ts';
import type { ByteRange } from '../../bytes/pieces.ts';
import { navxErrors } from './errors.ts';

const HEADER_LENGTH = 40;
/** The mark is before the CMS and at the end of the file. */
export const BLOCK_MARK = 'NXSB';
/** Two marks, and the offset of the block. */
const FRAME_LENGTH = 12;
const MAXIMUM_SIZE = 2 ** 32 - 1;

export interface NavxLayout {
  readonly version: number;
  readonly packageEnd: number;
  readonly fileSize: number;
  readonly signature: ByteRange | undefined;
}

export async function readLayout(source: ByteSource): Promise<NavxLayout> {
  const { size: fileSize } = source;
  if (fileSize < HEADER_LENGTH) {
    throw navxErrors('navx-truncated', { size: fileSize, what: 'header', end: HEADER_LENGTH });
  }
  const header = Buffer.from(await source.read(0, HEADER_LENGTH));
  const isKnown = header.readUInt32LE(4) === HEADER_LENGTH && header.toString('latin1', 36) === 'NAVX';
  if (!isKnown) throw malformed('its header is not the one of 40 bytes');
  const packageEnd = HEADER_LENGTH + Number(header.readBigUInt64LE(28));
  if (packageEnd > fileSize) throw navxErrors('navx-truncated', { size: fileSize, what: 'package', end: packageEnd });
  if (packageEnd > MAXIMUM_SIZE) throw navxErrors('navx-too-large', { size: fileSize });
  const signature = await readBlock(source, packageEnd);
  return { version: header.readUInt32LE(8), packageEnd, fileSize, signature };
}

async function readBlock({ size, read }: ByteSource, start: number): Promise<ByteRange | undefined> {
  if (start === size) return undefined;
  const isBlock = size - start >= FRAME_LENGTH && markOf(await read(start, BLOCK_MARK.length)) === BLOCK_MARK;
  if (!isBlock) throw navxErrors('navx-trailing-bytes', { length: size - start, end: start });
  const end = Buffer.from(await read(size - 8, 8));
  if (markOf(end.subarray(4)) !== BLOCK_MARK) throw malformed('its signature block does not end with its mark');
  const offset = end.readUInt32LE(0);
  if (offset !== start) throw malformed(`its signature says that it is at byte ${offset}, and it is at byte ${start}`);
  return { start: start + BLOCK_MARK.length, end: size - 8 };
}

function markOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}

const malformed = (problem: string) => navxErrors('navx-malformed', { problem });
