/** Digests a large temporary file in a worker thread while it is still being written, a little behind the writer. */

import { Worker } from 'node:worker_threads';
import type { Content, Measure, Measurement } from '../crypto/content.ts';
import type { ToMain, ToWorker } from './trailing-measure.worker.ts';

/** Below this, starting a thread (about 15 ms) costs more than reading the file again. */
const MINIMUM_SIZE = 24 * 1024 * 1024;
/** How often the worker hears of progress, in bytes written. */
const STEP = 4 * 1024 * 1024;

export interface TrailingMeasure {
  /** The file holds its first `size` bytes now. */
  written(size: number): void;
  /** The measurement of the final content; undefined when that is not what the worker has been digesting. */
  finish(content: Content, measures: readonly Measure[]): Promise<Measurement | undefined>;
  abandon(): void;
}

export interface TrailingMeasureOptions {
  readonly path: string;
  /** The content of the original; that of the result may go on where its last range ends, and no more. */
  readonly content: Content;
  readonly measures: readonly Measure[];
  /** Size of the original in bytes. */
  readonly size: number;
  readonly workerUrl: URL | undefined;
}

export function trailingMeasure(options: TrailingMeasureOptions): TrailingMeasure | undefined {
  const { path, content, measures, size, workerUrl } = options;
  const end = content.ranges.at(-1)?.end ?? 0;
  if (workerUrl === undefined || size < MINIMUM_SIZE || end === 0) return undefined;

  const worker = new Worker(workerUrl, { workerData: { path, content, measures }, stdin: false });
  const answer = new Promise<Measurement | undefined>((resolve) => {
    worker.once('message', ({ digests, sum16 }: ToMain) => resolve({ digests, sum16 }));
    // Whatever ails the worker, the caller then digests the file by itself and meets the fault there.
    worker.once('error', () => resolve(undefined));
    worker.once('exit', () => resolve(undefined));
  });
  const tell = (message: ToWorker): void => worker.postMessage(message);
  let told = 0;

  return {
    written(now) {
      const available = Math.min(now, end);
      if (available - told < STEP && available < end) return;
      told = available;
      tell({ available });
    },
    async finish(asked, askedMeasures) {
      const finalEnd = continuesAt(content, asked);
      if (finalEnd === undefined || askedMeasures.join() !== measures.join()) {
        await worker.terminate();
        return undefined;
      }
      tell({ available: finalEnd, last: true });
      const measurement = await answer;
      await worker.terminate();
      return measurement;
    },
    abandon() {
      void worker.terminate();
    },
  };
}

/** The end of `final` when it is `begun` with a longer last range; undefined when it is anything else. */
function continuesAt(begun: Content, final: Content): number | undefined {
  const last = begun.ranges.length - 1;
  if (final.zeroPadding !== 0 || final.ranges.length !== begun.ranges.length) return undefined;
  const same = begun.ranges.every((range, index) => {
    const other = final.ranges[index];
    if (other === undefined || other.start !== range.start) return false;
    return index === last ? other.end >= range.end : other.end === range.end;
  });
  return same ? final.ranges[last]?.end : undefined;
}
