import { formatErrors } from './errors.ts';

/**
 * A larger unpacked file is not kept in memory, so a read at an earlier offset unpacks the file again from its start.
 */
export const LARGEST_BUFFERED = 64 * 1024 * 1024;

export const MOST_INFLATED = 16 * 1024 ** 3;
const LARGEST_RATIO = 1000;
/** Up to this size, every compression ratio is accepted, because sparse disk images compress extremely well. */
const RATIO_FROM = 100_000_000;

/** `inflated` is the number of bytes unpacked so far. `packed` is the size of the container. */
export function checkInflated(inflated: number, packed: number, most = MOST_INFLATED): void {
  if (inflated > most) {
    throw formatErrors('contents-too-large', { problem: `more than ${most} bytes, which is the limit` });
  }
  if (inflated > RATIO_FROM && inflated > packed * LARGEST_RATIO) {
    throw formatErrors('contents-too-large', { problem: `more than ${LARGEST_RATIO} times the size of the file` });
  }
}
