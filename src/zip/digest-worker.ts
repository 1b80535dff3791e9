/** Built as a separate file, which the threads of digest-threads.ts run. */

import { parentPort } from 'node:worker_threads';
import { digestWindow, type PackedWindow } from './entry-windows.ts';

/** Also returns the memory of the window. A damaged entry gives no digests. */
export interface DigestedWindow {
  readonly bytes: ArrayBuffer;
  readonly digests: readonly Uint8Array<ArrayBuffer>[] | undefined;
}

parentPort?.on('message', ({ bytes, entries, algorithms }: PackedWindow) => {
  let digests: DigestedWindow['digests'];
  try {
    digests = digestWindow(Buffer.from(bytes), entries, algorithms);
  } catch {
    // The type of an error is lost between threads. The main thread gets the same error when it digests this window.
  }
  const answer: DigestedWindow = { bytes, digests };
  parentPort?.postMessage(answer, [bytes, ...(digests ?? []).map(({ buffer }) => buffer)]);
});
