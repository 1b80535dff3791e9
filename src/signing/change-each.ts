/** If one file fails, the other files continue. */

import { dirname } from 'node:path';
import { type CodesignError, toCodesignError } from '../errors/codesign-error.ts';
import { fromFileSystem } from '../files/file-system-errors.ts';
import type { FailedOutcome, FileOutcome, SkippedOutcome, SkipReason } from './outcome.ts';
import type { Planned, PlannedFile } from './planned-file.ts';
import type { StartedRun } from './run.ts';

/** Returns the outcomes in the order of the files. A file has failed if planning failed or `change` throws. */
export function changeEach(
  planned: readonly Planned[],
  run: StartedRun,
  change: (plan: PlannedFile) => Promise<FileOutcome>,
): Promise<FileOutcome[]> {
  const changeOne = async (one: Planned): Promise<FileOutcome> => {
    try {
      if ('error' in one) throw one.error;
      if (one.plan.skipped !== undefined) return await skip(one.plan, one.plan.skipped, run);
      run.stop.throwIfStopped();
      return await change(one.plan);
    } catch (thrown) {
      return failed(one, toCodesignError(fromFileSystem(thrown, 'read or write the file')));
    }
  };
  return concurrently(planned, run.concurrency, async (one) => {
    const outcome = await changeOne(one);
    run.onEvent({ type: 'file-finished', outcome });
    return outcome;
  });
}

/** Above this size, local work takes longer than the service call: 20 ms for a program, half a second for a JAR. */
const LARGE_BYTES = 8 * 1024 * 1024;

/**
 * Limit on concurrent large files while small files wait: one file is read while another file is flushed or signed. With
 * a higher limit, flushes could occupy all four threads of Node's pool.
 */
const LARGE_SLOTS = 2;

/** With a concurrency of one, the files start in their order. */
async function concurrently(
  files: readonly Planned[],
  concurrency: number,
  run: (file: Planned) => Promise<FileOutcome>,
): Promise<FileOutcome[]> {
  const outcomes = new Array<FileOutcome>(files.length);
  // The order is reversed, because `pop` takes the last entry.
  const waiting = [...files.entries()].reverse();
  const isLarge = ([, file]: [number, Planned]): boolean => concurrency > 1 && bytesToRead(file) >= LARGE_BYTES;
  const large = waiting.filter(isLarge);
  const small = waiting.filter((entry) => !isLarge(entry));
  const share = Math.min(LARGE_SLOTS, Math.floor(concurrency / 2));
  let largeUnderWay = 0;

  const useSlot = async (): Promise<void> => {
    for (;;) {
      const takesLarge = large.length > 0 && (small.length === 0 || largeUnderWay < share);
      const next = (takesLarge ? large : small).pop();
      if (next === undefined) return;
      const [index, file] = next;
      if (takesLarge) largeUnderWay++;
      outcomes[index] = await run(file);
      if (takesLarge) largeUnderWay--;
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, files.length) }, useSlot));
  return outcomes;
}

function bytesToRead(planned: Planned): number {
  return 'plan' in planned && planned.plan.skipped === undefined ? Number(planned.plan.stats.size) : 0;
}

async function skip(plan: PlannedFile, reason: SkipReason, { disk }: StartedRun): Promise<SkippedOutcome> {
  const { path, output, format, warnings } = plan;
  // No temporary copy is created for a skipped file, so the stale files of earlier runs must be removed here.
  await disk.removeStaleFiles?.(dirname(plan.target));
  return { path, output, format: format.id, warnings, status: 'skipped', reason };
}

function failed(planned: Planned, error: CodesignError): FailedOutcome {
  const known =
    'plan' in planned
      ? { format: planned.plan.format.id, warnings: planned.plan.warnings }
      : { format: planned.format, warnings: [] };
  return { path: planned.file.path, ...known, status: 'failed', error, record: null, kept: false };
}
