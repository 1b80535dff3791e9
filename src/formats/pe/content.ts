/**
 * The content that the digest covers ("Windows Authenticode Portable Executable Signature Format", Calculating the PE
 * Image Hash), and the CheckSum field.
 */

import type { MeasuredContent } from '../../authenticode/container.ts';
import type { ByteSource } from '../../bytes/byte-source.ts';
import type { ByteRange } from '../../bytes/pieces.ts';
import { addSum16, type Content, type ContentDigest, type MeasureContent } from '../../crypto/measure-content.ts';
import { align8 } from './certificate-table.ts';
import type { PeLayout } from './layout.ts';

export const CHECKSUM_LENGTH = 4;
export const TABLE_ENTRY_LENGTH = 8;

/**
 * Returns the whole file except CheckSum, the Certificate Table directory entry, and the table itself. Ignores
 * sections. Adds zeros if the length of the program is not a multiple of 8, because the table must begin at a multiple
 * of 8.
 */
export function contentToSign(layout: PeLayout): Content {
  return [...contentAsIs(layout), new Uint8Array(align8(layout.programEnd) - layout.programEnd)];
}

export function contentAsIs({ checksumOffset, tableEntryOffset, programEnd }: PeLayout): readonly ByteRange[] {
  return [
    { start: 0, end: checksumOffset },
    { start: checksumOffset + CHECKSUM_LENGTH, end: tableEntryOffset },
    { start: tableEntryOffset + TABLE_ENTRY_LENGTH, end: programEnd },
  ];
}

export interface MeasuredProgram extends MeasuredContent {
  readonly sum: number;
}

export async function measureProgram(
  source: ByteSource,
  content: Content,
  measure: MeasureContent,
  algorithms: readonly ContentDigest[],
): Promise<MeasuredProgram> {
  const { digests, sum16 } = await measure(source, content, [...algorithms, 'SUM16']);
  if (sum16 === undefined) throw new TypeError('the content was not measured as requested');
  return { digests, sum: sum16 };
}

/**
 * Computes CheckSum like ImageHlp's CheckSumMappedFile: the 16-bit one's-complement sum of the whole file plus the
 * file's length in bytes. In the sum, CheckSum counts as zero. `others` contains the bytes outside the content (the
 * directory entry and the certificate table), with their offsets in the file. The sums of the parts can be added,
 * because one's-complement addition does not depend on the order, and zeros (padding, CheckSum) add nothing. It matters
 * whether the offset of a part is odd: the offsets of header fields are odd if e_lfanew is odd.
 */
export function imageChecksum(contentSum: number, others: readonly PlacedBytes[], fileSize: number): number {
  const sum = others.reduce((total, { bytes, offset }) => addSum16(total, bytes, offset), contentSum);
  return (sum + fileSize) >>> 0;
}

interface PlacedBytes {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

export async function readChecksum(source: ByteSource, layout: PeLayout, contentSum: number): Promise<number> {
  const { tableEntryOffset, programEnd, fileSize } = layout;
  let sum = addSum16(contentSum, await source.read(tableEntryOffset, TABLE_ENTRY_LENGTH), tableEntryOffset);
  let offset = programEnd;
  for await (const chunk of source.stream(programEnd, fileSize)) {
    sum = addSum16(sum, chunk, offset);
    offset += chunk.length;
  }
  return (sum + fileSize) >>> 0;
}
