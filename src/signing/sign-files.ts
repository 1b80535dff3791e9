/** A run over several files: all judged before the first request, then signed side by side; one failure stops no other. */

import { type Batch, startBatch } from './batch.ts';
import { sideBySide } from './concurrently.ts';
import { requireWithinLimits } from './limits.ts';
import type { FileOutcome, FileToSign, SignFilesResult } from './outcome.ts';
import { patientListener } from './patient-listener.ts';
import { type PlannedFile, planFile } from './plan.ts';
import { bytesToRead, type Judgement, type Judging, judgeFiles } from './plan-files.ts';
import { rehearseFile, runFile } from './run-files.ts';
import { noReports, reportTo } from './service/reports.ts';
import { requestSignatures } from './service/signatures.ts';
import { requestTimestamps } from './service/timestamps.ts';
import type { Signing } from './signing.ts';

/**
 * Signs the files. Never throws for what one file does: each has its outcome, in the order given. Throws
 * `too-many-signatures` and `budget-exceeded` for the run. When `signal` aborts, nothing new starts and calls under way are
 * waited for.
 */
export async function signFiles(
  files: readonly FileToSign[],
  given: Signing,
  signal?: AbortSignal,
): Promise<SignFilesResult> {
  const { onEvent, warnings } = patientListener(given.onEvent);
  const signing: Signing = { ...given, onEvent };
  const batch = startBatch();
  const interrupt = (): void => batch.stop('the run was interrupted');
  signal?.addEventListener('abort', interrupt, { once: true });
  if (signal?.aborted) interrupt();
  try {
    const judgements = await judgeAll(files, signing, batch);
    await requireWithinLimits(judgements, signing);
    const outcomes = signing.dryRun
      ? await rehearseAll(judgements, signing, batch)
      : await signAll(judgements, signing, batch, signal);
    return { files: outcomes, summary: summarise(outcomes), warnings };
  } finally {
    signal?.removeEventListener('abort', interrupt);
  }
}

const isWritten = ({ alreadySigned }: PlannedFile): boolean => !alreadySigned;

/** With --all-or-nothing one unfit file stops the batch. */
async function judgeAll(files: readonly FileToSign[], signing: Signing, batch: Batch): Promise<Judgement[]> {
  const judging: Judging<PlannedFile> = {
    ...signing,
    plan: (file, options) => planFile(file, signing, options),
    isWritten,
  };
  const judgements = await judgeFiles(files, judging, batch);
  if (signing.allOrNothing && judgements.some((judgement) => 'error' in judgement)) {
    batch.stop('another file of this run cannot be signed, and --all-or-nothing was asked for');
  }
  return judgements;
}

async function signAll(
  judgements: readonly Judgement[],
  signing: Signing,
  batch: Batch,
  signal: AbortSignal | undefined,
): Promise<FileOutcome[]> {
  const { service, code } = signing;
  if (service === undefined || code === undefined) throw new Error('signing needs a service and a certificate number');
  const requestSignature = requestSignatures(signing, service, code, batch);
  const reports = signing.report ? reportTo({ ...signing, service, signal }) : noReports;
  const requestTimestamp = requestTimestamps(signing.authorities, batch);
  const run = { signing, batch, requestSignature, requestTimestamp, reports };
  const places = { concurrency: signing.concurrency, bytesOf: bytesToRead(isWritten) };
  const reporting = await sideBySide(judgements, places, (judgement) => runFile(judgement, run));
  return Promise.all(reporting.map((report) => report()));
}

async function rehearseAll(judgements: readonly Judgement[], signing: Signing, batch: Batch): Promise<FileOutcome[]> {
  const places = { concurrency: signing.concurrency, bytesOf: bytesToRead(isWritten) };
  return sideBySide(judgements, places, (judgement) => rehearseFile(judgement, signing, batch));
}

function summarise(outcomes: readonly FileOutcome[]): SignFilesResult['summary'] {
  const summary = { signed: 0, skipped: 0, failed: 0, planned: 0 };
  for (const { status } of outcomes) summary[status]++;
  return summary;
}
