/** The Info-ZIP Unicode Path extra field (APPNOTE 4.6.9): a second name, which some programs go by and Java does not. */

import { crc32 } from 'node:zlib';
import { zipErrors } from './errors.ts';

const UNICODE_PATH_EXTRA = 0x7075;
const VERSION = 1;
/** Version and CRC-32. */
const NAME_OFFSET = 5;

/**
 * Throws `zip-ambiguous` where the field is in force, which its CRC-32 of the name says, and names something else. The name
 * stands between `nameStart` and `nameEnd`, the extra fields follow up to `end`.
 */
export function refuseOtherUnicodeName(bytes: Buffer, nameStart: number, nameEnd: number, end: number): void {
  let position = nameEnd;
  while (position + 4 <= end) {
    const start = position + 4;
    const fieldEnd = start + bytes.readUInt16LE(position + 2);
    if (fieldEnd > end) return;
    const isUnicodePath = bytes.readUInt16LE(position) === UNICODE_PATH_EXTRA && fieldEnd - start >= NAME_OFFSET;
    if (isUnicodePath && isInForce(bytes, start, nameStart, nameEnd)) {
      if (bytes.compare(bytes, start + NAME_OFFSET, fieldEnd, nameStart, nameEnd) !== 0) {
        const names = [
          bytes.toString('utf8', nameStart, nameEnd),
          bytes.toString('utf8', start + NAME_OFFSET, fieldEnd),
        ];
        throw zipErrors('zip-ambiguous', { problem: `an entry has two names, ${names.join(' and ')}` });
      }
    }
    position = fieldEnd;
  }
}

function isInForce(bytes: Buffer, start: number, nameStart: number, nameEnd: number): boolean {
  return bytes[start] === VERSION && bytes.readUInt32LE(start + 1) === crc32(bytes.subarray(nameStart, nameEnd));
}
