import { flushFolder } from '../../bytes/folders.ts';
import { coalesce } from '../../bytes/reuse.ts';

/** The system reports a failed write to only one flush; any other flush would wrongly succeed. */
export function flushInTurn(sync: () => Promise<void>) {
  let last: Promise<void> = Promise.resolve();
  let fault: { readonly thrown: unknown } | undefined;
  return {
    flush(): Promise<void> {
      last = last.then(sync);
      last.catch((thrown: unknown) => {
        fault ??= { thrown };
      });
      return last;
    },
    assertNoneFailed(): void {
      if (fault) throw fault.thrown;
    },
  };
}

/** Large enough to be worth a call, small enough to leave little work for the last flush. */
const BYTES_APART = 16 * 1024 * 1024;

/** On macOS, a flush also empties the drive's cache, which takes more time than it saves. */
const PAYS = process.platform !== 'darwin';

/**
 * The returned function must be called with the total number of bytes written so far. At most one flush runs at a time.
 * `flush` must remember its own failures.
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

/** Each call returns a promise that resolves after a flush of the folder that began after the call. */
export function folderFlushes(): (folder: string) => Promise<void> {
  const flushes = new Map<string, () => Promise<void>>();
  return (folder) => {
    const known = flushes.get(folder) ?? coalesce(() => flushFolder(folder));
    flushes.set(folder, known);
    return known();
  };
}
