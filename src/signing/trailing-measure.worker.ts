/** The thread behind trailing-measure: reads the temporary file up to where it has been written, and digests it. */

import { closeSync, openSync, readSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type { Content, Measure, Measurement } from '../crypto/content.ts';
import { startMeasuring } from '../crypto/measure-content.ts';

export interface ToWorker {
  /** How many bytes of the file are there and final. */
  readonly available: number;
  /** Set when no more follow: the worker answers. */
  readonly last?: true;
}
export type ToMain = Measurement;

const { path, content, measures } = workerData as { path: string; content: Content; measures: readonly Measure[] };
const CHUNK_LENGTH = 1024 * 1024;

const ranges = content.ranges.map((range, index) =>
  index === content.ranges.length - 1 ? { start: range.start, end: Number.POSITIVE_INFINITY } : range,
);
const measuring = startMeasuring({ ranges, zeroPadding: 0 }, measures);
const buffer = Buffer.allocUnsafeSlow(CHUNK_LENGTH);
const file = openSync(path, 'r');
let offset = 0;

function readUpTo(available: number): void {
  while (offset < available) {
    const length = readSync(file, buffer, 0, Math.min(buffer.length, available - offset), offset);
    if (length === 0) throw new Error('the temporary file is shorter than what was written to it');
    measuring.update(buffer.subarray(0, length), offset);
    offset += length;
  }
}

parentPort?.on('message', ({ available, last }: ToWorker) => {
  readUpTo(available);
  if (!last) return;
  closeSync(file);
  parentPort?.postMessage(measuring.finish() satisfies ToMain);
});
