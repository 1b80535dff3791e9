/** What runs in a thread of digest-threads.ts: digests one window after the other. Built as a file of its own. */

import { parentPort } from 'node:worker_threads';
import { digestWindow, type PackedWindow } from './entry-windows.ts';

/** The window's memory goes back with the answer; no digests where an entry is damaged, which the asker finds out again. */
export interface DigestedWindow {
  readonly bytes: ArrayBuffer;
  readonly digests: readonly Uint8Array<ArrayBuffer>[] | undefined;
}

parentPort?.on('message', ({ bytes, entries, algorithms }: PackedWindow) => {
  let digests: DigestedWindow['digests'];
  try {
    digests = digestWindow(Buffer.from(bytes), entries, algorithms);
  } catch {
    // Errors do not cross threads whole: the caller meets the same one when it digests the window itself.
  }
  const answer: DigestedWindow = { bytes, digests };
  parentPort?.postMessage(answer, [bytes, ...(digests ?? []).map(({ buffer }) => buffer)]);
});
