import { flushFolder } from '../../bytes/folders.ts';
import { coalesce } from '../../bytes/reuse.ts';

/**
 * The system reports a failed write-back once, to whichever flush is under way, and forgets it: of two at once the other would
 * pass for a good one, and so would any later one.
 */
export function flushInTurn(sync: () => Promise<void>) {
  let last: Promise<void> = Promise.resolve();
  let fault: { readonly thrown: unknown } | undefined;
  return {
    /** Rejects with what this flush, or an earlier one, failed of. */
    flush(): Promise<void> {
      last = last.then(sync);
      last.catch((thrown: unknown) => {
        fault ??= { thrown };
      });
      return last;
    },
    /** Throws what a flush has failed of so far. */
    assertNoneFailed(): void {
      if (fault) throw fault.thrown;
    },
  };
}

/** Often enough for little to be left at the end, and rarely enough for a flush to be worth its call. */
const BYTES_APART = 16 * 1024 * 1024;

/** A flush on macOS has the drive empty its own cache too, which takes longer than what is gained. */
const PAYS = process.platform !== 'darwin';

/**
 * Returns what is called with how far the file is written, in bytes from its start; at most one of its flushes is under way.
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

/** Each call resolves after a flush of the folder that began when it had been made. */
export function folderFlushes(): (folder: string) => Promise<void> {
  const flushes = new Map<string, () => Promise<void>>();
  return (folder) => {
    const known = flushes.get(folder) ?? coalesce(() => flushFolder(folder));
    flushes.set(folder, known);
    return known();
  };
}
