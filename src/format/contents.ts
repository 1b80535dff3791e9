import { formatErrors } from './errors.ts';

/** Larger files are read again from the start if an earlier offset is needed. */
export const LARGEST_BUFFERED = 64 * 1024 * 1024;

export const MOST_INFLATED = 16 * 1024 ** 3;
const LARGEST_RATIO = 1000;
/** Small files may have a higher ratio, for example a sparse image. */
const RATIO_FROM = 100_000_000;

/** Throws `contents-too-large`. `inflated` is the total size so far, `packed` that of the container. */
export function checkInflated(inflated: number, packed: number, most = MOST_INFLATED): void {
  if (inflated > most) {
    throw formatErrors('contents-too-large', { problem: `more than ${most} bytes, which is the limit` });
  }
  if (inflated > RATIO_FROM && inflated > packed * LARGEST_RATIO) {
    throw formatErrors('contents-too-large', { problem: `more than ${LARGEST_RATIO} times the size of the file` });
  }
}
