/**
 * The program that the threads of digest-threads.ts run, built as a separate file. A thread digests its windows one
 * after another.
 */

import { parentPort } from 'node:worker_threads';
import { digestWindow, type PackedWindow } from './entry-windows.ts';

/** Returns the memory of the window together with the result. If an entry is damaged, there are no digests. */
export interface DigestedWindow {
  readonly bytes: ArrayBuffer;
  readonly digests: readonly Uint8Array<ArrayBuffer>[] | undefined;
}

parentPort?.on('message', ({ bytes, entries, algorithms }: PackedWindow) => {
  let digests: DigestedWindow['digests'];
  try {
    digests = digestWindow(Buffer.from(bytes), entries, algorithms);
  } catch {
    // The type of an error is lost when it is sent between threads. The main thread gets the same error when it digests
    // this window itself.
  }
  const answer: DigestedWindow = { bytes, digests };
  parentPort?.postMessage(answer, [bytes, ...(digests ?? []).map(({ buffer }) => buffer)]);
});
