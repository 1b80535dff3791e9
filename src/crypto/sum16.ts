/** The 16-bit one's-complement sum in the PE image checksum, over ranges of a file in chunks of any size. */

import { endianness } from 'node:os';

const LITTLE_ENDIAN = endianness() === 'LE';

/**
 * Adds the bytes at `offset` of the file to a running sum and returns the new sum (0…0xffff). Bytes at even file
 * offsets are the low half of a word, and those at odd offsets the high half. The missing half of an incomplete word
 * counts as zero.
 *
 * The order of one's-complement additions does not matter, and 2^16 ≡ 1 (mod 0xffff). Therefore aligned memory is added
 * 32 bits at a time, and a sum with exchanged halves is corrected at the end.
 */
export function addSum16(sum: number, bytes: Uint8Array, offset: number): number {
  const head = Math.min((4 - (bytes.byteOffset % 4)) % 4, bytes.length);
  const words = (bytes.length - head) >>> 2;
  let total = sumBytes(bytes, 0, head) + sumWords(bytes, head, words) + sumBytes(bytes, head + words * 4, bytes.length);
  total = fold16(total);
  const exchanged = (bytes.byteOffset + offset) % 2 !== 0;
  return fold16(sum + (exchanged ? exchange(total) : total));
}

/** Adds the carries until 16 bits are left. A multiple of 0xffff other than zero stays 0xffff. */
function fold16(total: number): number {
  if (total <= 0xffff) return total;
  return total % 0xffff || 0xffff;
}

/** Adds byte by byte. The address in memory decides which half of a word a byte is. */
function sumBytes(bytes: Uint8Array, start: number, end: number): number {
  let sum = 0;
  for (let index = start; index < end; index++) {
    const byte = bytes[index] ?? 0;
    sum += (bytes.byteOffset + index) % 2 === 0 ? byte : byte << 8;
  }
  return sum;
}

/** A double is exact below 2^53: enough for 2^21 words of 32 bits, more than any chunk has. */
function sumWords(bytes: Uint8Array, start: number, count: number): number {
  if (count === 0) return 0; // The chunk ends before the next aligned word, and an array cannot start between words.
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset + start, count);
  let total = 0;
  for (let index = 0; index < count; index++) total += words[index] as number;
  const sum = fold16(total);
  return LITTLE_ENDIAN ? sum : exchange(sum);
}

function exchange(sum: number): number {
  return ((sum & 0xff) << 8) | (sum >>> 8);
}
