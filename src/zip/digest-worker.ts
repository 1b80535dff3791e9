/** Program of the threads in digest-threads.ts, built as a separate file. It digests windows one after another. */

import { parentPort } from 'node:worker_threads';
import { digestWindow, type PackedWindow } from './entry-windows.ts';

/** Returns the window's memory with the result. The digests are missing if an entry is damaged. */
export interface DigestedWindow {
  readonly bytes: ArrayBuffer;
  readonly digests: readonly Uint8Array<ArrayBuffer>[] | undefined;
}

parentPort?.on('message', ({ bytes, entries, algorithms }: PackedWindow) => {
  let digests: DigestedWindow['digests'];
  try {
    digests = digestWindow(Buffer.from(bytes), entries, algorithms);
  } catch {
    // Errors lose their type between threads. The main thread gets the same error when it digests the window itself.
  }
  const answer: DigestedWindow = { bytes, digests };
  parentPort?.postMessage(answer, [bytes, ...(digests ?? []).map(({ buffer }) => buffer)]);
});
