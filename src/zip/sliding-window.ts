/** Bytes of a file in the order they stand, read on in large pieces, so that a short read costs no system call of its own. */

import type { ByteSource } from '../bytes/byte-source.ts';
import { asBuffer } from './fields.ts';

/** In bytes: what one read brings. */
export const WINDOW_LENGTH = 1024 * 1024;

export interface SlidingWindow {
  /** A view, valid until the next `load`; undefined when that is needed first. */
  view(offset: number, length: number): Buffer | undefined;
  load(offset: number, length: number): Promise<Buffer>;
}

const EMPTY = Buffer.alloc(0);

/** Of the file's bytes up to the limit. */
export function slidingWindow(source: ByteSource, limit: number): SlidingWindow {
  const scratch = Buffer.allocUnsafeSlow(Math.min(WINDOW_LENGTH, limit));
  let start = 0;
  let bytes: Buffer = EMPTY;
  return {
    view(offset, length) {
      if (length === 0) return EMPTY;
      const from = offset - start;
      return from >= 0 && from + length <= bytes.length ? bytes.subarray(from, from + length) : undefined;
    },
    async load(offset, length) {
      start = offset;
      bytes = asBuffer(await source.read(offset, Math.min(Math.max(length, WINDOW_LENGTH), limit - offset), scratch));
      return bytes.subarray(0, length);
    },
  };
}
