/** Limits for files that are inside other files. */

import { formatErrors } from './errors.ts';

/**
 * Files of up to this many bytes are read into memory. Larger files are read again from the start if an earlier offset
 * is needed.
 */
export const LARGEST_BUFFERED = 64 * 1024 * 1024;

export const MOST_INFLATED = 16 * 1024 ** 3;
const LARGEST_RATIO = 1000;
/** Small files may have a higher compression ratio, for example a text file of zeros or a sparse image. */
const RATIO_FROM = 100_000_000;

/**
 * Throws `contents-too-large`. `packed` is the size of the container, and `inflated` is the total size of the contents
 * that were unpacked so far.
 */
export function checkInflated(inflated: number, packed: number, most = MOST_INFLATED): void {
  if (inflated > most) {
    throw formatErrors('contents-too-large', { problem: `more than ${most} bytes, which is the limit` });
  }
  if (inflated > RATIO_FROM && inflated > packed * LARGEST_RATIO) {
    throw formatErrors('contents-too-large', { problem: `more than ${LARGEST_RATIO} times the size of the file` });
  }
}
