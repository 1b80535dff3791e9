/** Changes the planned files concurrently. A file that fails does not stop the others. */

import { dirname } from 'node:path';
import { type CodesignError, toCodesignError } from '../errors/codesign-error.ts';
import { concurrently } from '../files/concurrently.ts';
import { fromFileSystem } from '../files/file-system-errors.ts';
import type { FailedOutcome, FileOutcome, SkippedOutcome, SkipReason } from './outcome.ts';
import type { Planned, PlannedFile } from './planned-file.ts';
import type { StartedRun } from './run.ts';

/**
 * Returns the outcomes in the order given. `change` finishes the file with `finish`. If it throws, the file fails here.
 * It is not called for files that cannot be changed or need no change.
 */
export function changeEach(
  planned: readonly Planned[],
  run: StartedRun,
  change: (plan: PlannedFile) => Promise<FileOutcome>,
): Promise<FileOutcome[]> {
  const slots = { concurrency: run.concurrency, bytesOf: bytesToRead };
  return concurrently(planned, slots, async (one) => {
    if ('error' in one) return finish(failed(one, one.error), run);
    const { plan } = one;
    try {
      if (plan.skipped !== undefined) return finish(await skip(plan, plan.skipped, run), run);
      run.stop.throwIfStopped();
      return await change(plan);
    } catch (thrown) {
      return finish(failed(one, toCodesignError(fromFileSystem(thrown, 'read or write the file'))), run);
    }
  });
}

/** Announces the outcome of a file. */
export function finish(outcome: FileOutcome, { onEvent }: Pick<StartedRun, 'onEvent'>): FileOutcome {
  onEvent({ type: 'file-finished', outcome });
  return outcome;
}

/** A file that will not be written is not read. */
function bytesToRead(planned: Planned): number {
  return 'plan' in planned && planned.plan.skipped === undefined ? Number(planned.plan.stats.size) : 0;
}

async function skip(plan: PlannedFile, reason: SkipReason, { disk }: StartedRun): Promise<SkippedOutcome> {
  const { path, output, format, warnings } = plan;
  // These runs create no copy, which would remove stale files.
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
