import { formatErrors } from './errors.ts';

/** Larger unpacked files are not kept in memory. Reading at an earlier offset unpacks them again from the start. */
export const LARGEST_BUFFERED = 64 * 1024 * 1024;

export const MOST_INFLATED = 16 * 1024 ** 3;
const LARGEST_RATIO = 1000;
/** Below this size, any ratio is accepted, because a sparse image compresses extremely well. */
const RATIO_FROM = 100_000_000;

/**
 * Throws `contents-too-large`. `inflated` is the number of bytes unpacked so far, and `packed` the size of the
 * container.
 */
export function checkInflated(inflated: number, packed: number, most = MOST_INFLATED): void {
  if (inflated > most) {
    throw formatErrors('contents-too-large', { problem: `more than ${most} bytes, which is the limit` });
  }
  if (inflated > RATIO_FROM && inflated > packed * LARGEST_RATIO) {
    throw formatErrors('contents-too-large', { problem: `more than ${LARGEST_RATIO} times the size of the file` });
  }
}
