import { flushFolder } from '../../bytes/folders.ts';
import { coalesce } from '../../bytes/reuse.ts';

/** The system reports a failed write to only one flush; later flushes succeed although data is missing. */
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

/** With fewer bytes, a flush is not worth a call; with more, the last flush has much work left. */
const BYTES_APART = 16 * 1024 * 1024;

/** On macOS, a flush also empties the drive's cache, which takes more time than it saves. */
const PAYS = process.platform !== 'darwin';

/** The returned function takes the number of bytes written so far, and ignores failures, which `flush` must remember. */
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

/** Concurrent calls for a folder use one flush, which begins after the calls. */
export function folderFlushes(): (folder: string) => Promise<void> {
  const flushes = new Map<string, () => Promise<void>>();
  return (folder) => {
    const known = flushes.get(folder) ?? coalesce(() => flushFolder(folder));
    flushes.set(folder, known);
    return known();
  };
}
