/** The signed content ("Windows Authenticode Portable Executable Signature Format", Calculating the PE Image Hash). */

import type { MeasuredContent } from '../../authenticode/container.ts';
import type { ByteSource } from '../../bytes/byte-source.ts';
import type { ByteRange } from '../../bytes/pieces.ts';
import { addSum16, type Content } from '../../crypto/measure-content.ts';
import { align8 } from './certificate-table.ts';
import type { PeLayout } from './layout.ts';

export const CHECKSUM_LENGTH = 4;
export const TABLE_ENTRY_LENGTH = 8;

/** Adds zeros at the end of the program, because the certificate table must begin at a multiple of 8. */
export function contentToSign(layout: PeLayout): Content {
  return [...contentAsIs(layout), new Uint8Array(align8(layout.programEnd) - layout.programEnd)];
}

/** Returns the whole file except CheckSum, the Certificate Table directory entry, and the table itself. */
export function contentAsIs({ checksumOffset, tableEntryOffset, programEnd }: PeLayout): readonly ByteRange[] {
  return [
    { start: 0, end: checksumOffset },
    { start: checksumOffset + CHECKSUM_LENGTH, end: tableEntryOffset },
    { start: tableEntryOffset + TABLE_ENTRY_LENGTH, end: programEnd },
  ];
}

export interface MeasuredProgram extends MeasuredContent {
  /** One's-complement sum of the content (SUM16). */
  readonly sum: number;
}

/**
 * Computes CheckSum like ImageHlp's CheckSumMappedFile. `sum` is the 16-bit one's-complement sum of the whole file, in
 * which CheckSum counts as zero. One's-complement addition is commutative, so the sums of parts can be added.
 */
export function checksumOf(sum: number, fileSize: number): number {
  return (sum + fileSize) >>> 0;
}

export async function readChecksum(source: ByteSource, layout: PeLayout, contentSum: number): Promise<number> {
  const { tableEntryOffset, programEnd, fileSize } = layout;
  let sum = addSum16(contentSum, await source.read(tableEntryOffset, TABLE_ENTRY_LENGTH), tableEntryOffset);
  let offset = programEnd;
  for await (const chunk of source.stream(programEnd, fileSize)) {
    sum = addSum16(sum, chunk, offset);
    offset += chunk.length;
  }
  return checksumOf(sum, fileSize);
}
