/** A ByteSource over bytes that are in memory already. */

import type { ByteSource } from './byte-source.ts';
import { bytesErrors } from './errors.ts';

export function memorySource(bytes: Uint8Array): ByteSource {
  return {
    size: bytes.length,
    async read(offset, length) {
      if (offset < 0 || length < 0 || offset + length > bytes.length) {
        throw bytesErrors('read-past-end', { what: 'bytes', length, offset, size: bytes.length });
      }
      return bytes.subarray(offset, offset + length);
    },
    async *stream(start = 0, end = bytes.length) {
      if (start < end) yield bytes.subarray(start, end);
    },
  };
}
