import type { ByteSource } from '../bytes/byte-source.ts';
import { areZero, type ByteRange } from '../bytes/pieces.ts';
import type { ZipArchive } from './archive.ts';
import { asBuffer, readUInt64LE, ZIP64_END_RECORD_LENGTH, ZIP64_LOCATOR_LENGTH } from './fields.ts';

export interface UncoveredBytes {
  readonly length: number;
  /** True if all bytes are zero, or if `length` is 0. */
  readonly isZero: boolean;
}

export async function findUncovered(source: ByteSource, archive: ZipArchive) {
  const { start, inFile, end } = archive;
  const { directoryOffset, recordOffset, zip64, trailingLength } = end;
  const lastEnd = inFile.at(-1)?.end ?? start;
  const apkSigningBlock = await apkSigningBlockLength(source, lastEnd, directoryOffset);
  const gaps: ByteRange[] = [];
  for (const [index, { offset }] of inFile.entries()) {
    if (index > 0) gaps.push({ start: inFile[index - 1]?.end ?? offset, end: offset });
  }
  gaps.push({ start: lastEnd, end: directoryOffset - apkSigningBlock });
  if (zip64 !== undefined) {
    const recordEnd = recordOffset - ZIP64_LOCATOR_LENGTH;
    gaps.push({ start: recordEnd - zip64.length + ZIP64_END_RECORD_LENGTH, end: recordEnd });
  }
  return {
    before: await bytesIn(source, [{ start: 0, end: start }]),
    between: await bytesIn(source, gaps),
    after: await bytesIn(source, [{ start: source.size - trailingLength, end: source.size }]),
    apkSigningBlock,
  };
}

async function bytesIn(source: ByteSource, ranges: readonly ByteRange[]): Promise<UncoveredBytes> {
  const filled = ranges.filter(({ start, end }) => end > start);
  const length = filled.reduce((sum, { start, end }) => sum + end - start, 0);
  return { length, isZero: length === 0 || (await areZero(source, filled)) };
}

const APK_MAGIC = 'APK Sig Block 42';
/**
 * The footer of an APK Signing Block contains a size and a magic number. The size does not include the size field at
 * the block's start.
 */
const APK_FOOTER_LENGTH = 24;
const APK_SIZE_LENGTH = 8;
const APK_ID_LENGTH = 4;
const LONGEST_APK_BLOCK = 16 * 1024 * 1024;

/** An APK Signing Block ends at the directory, and contains pairs of an id and a value ("APK Signature Scheme v2"). */
async function apkSigningBlockLength(source: ByteSource, from: number, directoryOffset: number): Promise<number> {
  const least = APK_SIZE_LENGTH + APK_FOOTER_LENGTH;
  if (directoryOffset - from < least) return 0;
  const footer = asBuffer(await source.read(directoryOffset - APK_FOOTER_LENGTH, APK_FOOTER_LENGTH));
  const length = readUInt64LE(footer, 0) + APK_SIZE_LENGTH;
  if (footer.toString('latin1', APK_SIZE_LENGTH) !== APK_MAGIC) return 0;
  if (length < least || length > Math.min(directoryOffset - from, LONGEST_APK_BLOCK)) return 0;
  const block = asBuffer(await source.read(directoryOffset - length, length));
  return readUInt64LE(block, 0) + APK_SIZE_LENGTH === length && containsOnlyPairs(block) ? length : 0;
}

function containsOnlyPairs(block: Buffer): boolean {
  const end = block.length - APK_FOOTER_LENGTH;
  let position = APK_SIZE_LENGTH;
  while (position + APK_SIZE_LENGTH + APK_ID_LENGTH <= end) {
    const length = readUInt64LE(block, position);
    if (length < APK_ID_LENGTH || length > end) return false;
    position += APK_SIZE_LENGTH + length;
  }
  return position === end;
}
