/** The PE image checksum, made from the sum of the content without reading the file again (as ImageHlp's CheckSumMappedFile gives it). */

import type { ByteSource } from '../../bytes/byte-source.ts';
import { addSum16 } from '../../crypto/sum16.ts';
import { TABLE_ENTRY_LENGTH } from './content.ts';
import type { PeLayout } from './layout.ts';

/** Bytes beside the content, where they stand in the file: the directory entry, the certificate table. */
export interface PlacedBytes {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/**
 * The 16-bit one's-complement sum of the whole file with CheckSum as zero, plus the file's length in bytes.
 * One's-complement addition does not mind the order, so the parts' sums add up; zeros (padding, CheckSum) add nothing.
 * A part counts by the parity of its file offset, which is odd for header fields when e_lfanew is.
 */
export function imageChecksum(contentSum: number, others: readonly PlacedBytes[], fileSize: number): number {
  const sum = others.reduce((total, { bytes, offset }) => addSum16(total, bytes, offset), contentSum);
  return (sum + fileSize) >>> 0;
}

/** What CheckSum should be in a file as it is. The table, which may be of any size, is streamed. */
export async function readChecksum(source: ByteSource, layout: PeLayout, contentSum: number): Promise<number> {
  const { tableEntryOffset, programEnd, fileSize } = layout;
  const entry = await source.read(tableEntryOffset, TABLE_ENTRY_LENGTH);
  let sum = addSum16(contentSum, entry, tableEntryOffset);
  let offset = programEnd;
  for await (const chunk of source.stream(programEnd, fileSize)) {
    sum = addSum16(sum, chunk, offset);
    offset += chunk.length;
  }
  return (sum + fileSize) >>> 0;
}
