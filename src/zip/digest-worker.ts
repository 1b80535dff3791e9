/** The program of each thread, which the build writes to a separate file. */

import { parentPort } from 'node:worker_threads';
import { digestWindow, type PackedWindow } from './entry-windows.ts';

/** The result transfers the memory of the window back. `digests` is undefined if an entry is damaged. */
export interface DigestedWindow {
  readonly bytes: ArrayBuffer;
  readonly digests: readonly Uint8Array<ArrayBuffer>[] | undefined;
}

parentPort?.on('message', ({ bytes, entries, algorithms }: PackedWindow) => {
  let digests: DigestedWindow['digests'];
  try {
    digests = digestWindow(Buffer.from(bytes), entries, algorithms);
  } catch {
    // A message to another thread loses the class of an error. The main thread digests again, and throws.
  }
  const answer: DigestedWindow = { bytes, digests };
  parentPort?.postMessage(answer, [bytes, ...(digests ?? []).map(({ buffer }) => buffer)]);
});
