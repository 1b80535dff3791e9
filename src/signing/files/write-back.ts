/** Has the disk begin with a file while the rest of it is still being written: one flush at the end would wait for all of it. */

/** Often enough for little to be left at the end, and rarely enough for a flush to be worth its call. */
const BYTES_APART = 16 * 1024 * 1024;

/** A flush on macOS has the drive empty its own cache too, which takes longer than what is gained. */
const PAYS = process.platform !== 'darwin';

/**
 * Gives what is to be told how far the file is written, in bytes from its start; at most one flush asked for here is under way.
 * `flush` remembers what it fails of.
 */
export function writeBackWith(flush: () => Promise<void>): (written: number) => void {
  let writtenBack = 0;
  let isFlushing = false;
  return (written) => {
    if (!PAYS || isFlushing || written - writtenBack < BYTES_APART) return;
    writtenBack = written;
    isFlushing = true;
    flush()
      .catch(() => undefined)
      .finally(() => {
        isFlushing = false;
      });
  };
}
