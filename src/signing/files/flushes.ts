import { flushFolder } from '../../bytes/folders.ts';
import { coalesce } from '../../bytes/reuse.ts';

/**
 * The system reports a failed write-back only once, to whichever flush is running, and then forgets it. Of two
 * concurrent flushes, one would wrongly succeed, and so would any later flush.
 */
export function flushInTurn(sync: () => Promise<void>) {
  let last: Promise<void> = Promise.resolve();
  let fault: { readonly thrown: unknown } | undefined;
  return {
    /** Rejects with the failure of this flush or of an earlier one. */
    flush(): Promise<void> {
      last = last.then(sync);
      last.catch((thrown: unknown) => {
        fault ??= { thrown };
      });
      return last;
    },
    /** Throws the failure of an earlier flush, if there was one. */
    assertNoneFailed(): void {
      if (fault) throw fault.thrown;
    },
  };
}

/** Small enough to leave little for the last flush, large enough to make a flush worth its call. */
const BYTES_APART = 16 * 1024 * 1024;

/** A flush on macOS also empties the cache of the drive, which costs more time than it saves. */
const PAYS = process.platform !== 'darwin';

/**
 * Returns a function that takes the number of bytes written so far. At most one of its flushes runs at a time. `flush`
 * remembers its failures.
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

/** Each call resolves after a flush of the folder that began after the call. */
export function folderFlushes(): (folder: string) => Promise<void> {
  const flushes = new Map<string, () => Promise<void>>();
  return (folder) => {
    const known = flushes.get(folder) ?? coalesce(() => flushFolder(folder));
    flushes.set(folder, known);
    return known();
  };
}
