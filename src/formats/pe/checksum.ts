/** The PE image checksum, made from the sum of the content without reading the file again (as ImageHlp's CheckSumMappedFile gives it). */

import { addSum16 } from '../../crypto/sum16.ts';

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
