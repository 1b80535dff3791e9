/** A run over several files: all are planned first, then changed concurrently. One that fails stops no other. */

import { dirname } from 'node:path';
import { type CodesignError, toCodesignError } from '../errors/codesign-error.ts';
import { fromFileSystem } from '../files/file-system-errors.ts';
import { type Batch, startBatch } from './batch.ts';
import type { Change, Finished, Planned, Run, WaitForReport } from './change.ts';
import type { FailedOutcome, FileToSign, SkippedOutcome } from './outcome.ts';
import { planFiles } from './plan-files.ts';

type Ended<Done> = Done | SkippedOutcome | FailedOutcome;

/**
 * Each file has its outcome, in the order given; what one file does is never thrown. When `signal` aborts, nothing new starts
 * and files under way are finished.
 */
export async function runFiles<Intent, Done>(
  files: readonly FileToSign[],
  run: Run<Done>,
  start: (batch: Batch) => Change<Intent, Done>,
  signal: AbortSignal | undefined,
): Promise<Ended<Done>[]> {
  const batch = startBatch();
  const interrupt = (): void => batch.stop('the run was interrupted');
  signal?.addEventListener('abort', interrupt, { once: true });
  if (signal?.aborted) interrupt();
  try {
    const change = start(batch);
    const planned = await planFiles(files, run, change, batch);
    await change.checkRun?.(planned);
    const limits = { concurrency: run.concurrency, bytesOf: bytesToRead };
    const reports = await concurrently(planned, limits, (one) => runFile(one, run, change, batch));
    return await Promise.all(reports.map((report) => report()));
  } finally {
    signal?.removeEventListener('abort', interrupt);
  }
}

/** Nothing is read of a file that is not going to be written. */
function bytesToRead(planned: Planned): number {
  return 'plan' in planned && planned.plan.skipped === undefined ? Number(planned.plan.stats.size) : 0;
}

/** What it returns waits for the report of the file, and holds nothing else of it until the end of the run. */
async function runFile<Intent, Done>(
  planned: Planned<Intent>,
  run: Run<Done>,
  change: Change<Intent, Done>,
  batch: Batch,
): Promise<WaitForReport<Ended<Done>>> {
  const { outcome, startReport } = await finish(planned, run, change, batch);
  run.onEvent({ type: 'file-finished', outcome });
  return startReport?.() ?? withoutReport(outcome);
}

function withoutReport<Done>(outcome: Done): WaitForReport<Done> {
  return async () => outcome;
}

async function finish<Intent, Done>(
  planned: Planned<Intent>,
  { disk, onEvent }: Run<Done>,
  change: Change<Intent, Done>,
  batch: Batch,
): Promise<Finished<Ended<Done>>> {
  if ('error' in planned) return { outcome: failed(planned, planned.error) };
  const { plan } = planned;
  const { path, output, skipped, warnings } = plan;
  const isRehearsal = change.isRehearsal === true;
  if (skipped !== undefined) {
    // No copy is created, which would look for them.
    if (!isRehearsal) await disk.removeStaleFiles?.(dirname(plan.target));
    return { outcome: { path, output, format: plan.format.id, warnings, status: 'skipped', reason: skipped } };
  }
  try {
    batch.assertGoing();
    if (!isRehearsal) onEvent({ type: 'file-started', path });
    return await change.perform(plan, batch);
  } catch (thrown) {
    const doing = isRehearsal ? 'read the file' : 'read or write the file';
    return { outcome: failed(planned, toCodesignError(fromFileSystem(thrown, doing))) };
  }
}

function failed(planned: Planned, error: CodesignError): FailedOutcome {
  const known =
    'plan' in planned
      ? { format: planned.plan.format.id, warnings: planned.plan.warnings }
      : { format: planned.format, warnings: [] };
  return { path: planned.file.path, ...known, status: 'failed', error, record: null, kept: false };
}

/** As `listener`, but what it throws first is a warning: it must not make a file count as failed that is done. */
export function safeListener<Event>(listener: (event: Event) => void) {
  const warnings: string[] = [];
  const onEvent = (event: Event): void => {
    try {
      listener(event);
    } catch (thrown) {
      if (warnings.length === 0) warnings.push(`The listener for events failed: ${String(thrown)}`);
    }
  };
  return { onEvent, warnings };
}

/** From here on it is the machine that takes the time of a file, not the service: 20 ms of a program, half a second of a JAR. */
const LARGE_BYTES = 8 * 1024 * 1024;

/**
 * So many large files concurrently while small ones wait: one that is read and one that is flushed or signed. More would gain
 * nothing, since the digesting is one processor's, and could hold all four threads of Node's pool with flushes.
 */
const LARGE_SLOTS = 2;

export interface Slots<File> {
  /** Files under way concurrently; with one, they take turns in the order given. */
  readonly concurrency: number;
  readonly bytesOf: (file: File) => number;
}

/** What `run` gives for each file, in the order given. `run` must not reject. */
export async function concurrently<File, Outcome>(
  files: readonly File[],
  { concurrency, bytesOf }: Slots<File>,
  run: (file: File) => Promise<Outcome>,
): Promise<Outcome[]> {
  const outcomes = new Array<Outcome>(files.length);
  // Last first, to be popped.
  const waiting = [...files.entries()].reverse();
  const isLarge = ([, file]: [number, File]): boolean => concurrency > 1 && bytesOf(file) >= LARGE_BYTES;
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
