/** The content that an Authenticode digest covers ("Windows Authenticode Portable Executable Signature Format", Calculating the PE Image Hash). */

import type { MeasuredContent } from '../../authenticode/container.ts';
import type { ByteSource } from '../../bytes/byte-source.ts';
import type { ByteRange } from '../../bytes/pieces.ts';
import type { Content, ContentDigest, MeasureContent } from '../../crypto/content.ts';
import { align8 } from './certificate-table.ts';
import type { PeLayout } from './layout.ts';

export const CHECKSUM_LENGTH = 4;
export const TABLE_ENTRY_LENGTH = 8;

/**
 * The whole file less CheckSum, the Certificate Table entry and the table itself; sections are not looked at.
 * With zeros up to a multiple of 8 where the program's length is not one, since the table will begin at one.
 */
export function contentToSign(layout: PeLayout): Content {
  return [...contentAsIs(layout), new Uint8Array(align8(layout.programEnd) - layout.programEnd)];
}

/** The content of a file as the signatures in it cover it: padding, if any, is in the file by now. */
export function contentAsIs({ checksumOffset, tableEntryOffset, programEnd }: PeLayout): readonly ByteRange[] {
  return [
    { start: 0, end: checksumOffset },
    { start: checksumOffset + CHECKSUM_LENGTH, end: tableEntryOffset },
    { start: tableEntryOffset + TABLE_ENTRY_LENGTH, end: programEnd },
  ];
}

export interface MeasuredProgram extends MeasuredContent {
  /** SUM16, from which CheckSum is made. */
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
