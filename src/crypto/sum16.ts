/** The 16-bit one's-complement sum under the PE image checksum, over ranges of a file in any chunking. */

import { endianness } from 'node:os';

const LITTLE_ENDIAN = endianness() === 'LE';

/**
 * Adds `bytes`, which stand at `offset` of the file, to a running sum and gives the new one (0…0xffff).
 * Bytes at even file offsets count as the low half of a word, at odd ones as the high half; a byte without its other
 * half counts as if that were zero. One's-complement addition does not mind the order, and 2^16 ≡ 1 (mod 0xffff), so
 * aligned memory is added 32 bits at a time, and a sum taken with the halves exchanged is exchanged back afterwards.
 */
export function addSum16(sum: number, bytes: Uint8Array, offset: number): number {
  const head = Math.min((4 - (bytes.byteOffset % 4)) % 4, bytes.length);
  const words = (bytes.length - head) >>> 2;
  let total = sumBytes(bytes, 0, head) + sumWords(bytes, head, words) + sumBytes(bytes, head + words * 4, bytes.length);
  total = fold16(total);
  const exchanged = (bytes.byteOffset + offset) % 2 !== 0;
  return fold16(sum + (exchanged ? exchange(total) : total));
}

/** Adds the carries back in until 16 bits are left; a multiple of 0xffff other than zero stays 0xffff. */
function fold16(total: number): number {
  if (total <= 0xffff) return total;
  return total % 0xffff || 0xffff;
}

/** Byte by byte, the address in memory says which half of a word it is. */
function sumBytes(bytes: Uint8Array, start: number, end: number): number {
  let sum = 0;
  for (let index = start; index < end; index++) {
    const byte = bytes[index] ?? 0;
    sum += (bytes.byteOffset + index) % 2 === 0 ? byte : byte << 8;
  }
  return sum;
}

/** Doubles hold the sum exactly below 2^53, which is 2^21 words of 32 bits and more than any chunk has. */
function sumWords(bytes: Uint8Array, start: number, count: number): number {
  if (count === 0) return 0; // Fewer bytes than to the next aligned word: an array may not start between words.
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset + start, count);
  let total = 0;
  for (let index = 0; index < count; index++) total += words[index] as number;
  const sum = fold16(total);
  return LITTLE_ENDIAN ? sum : exchange(sum);
}

function exchange(sum: number): number {
  return ((sum & 0xff) << 8) | (sum >>> 8);
}
