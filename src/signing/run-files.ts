/** One judged file on its way to its outcome: skipped, planned, signed or failed, told as it happens and reported. */

import { dirname } from 'node:path';
import { type CodesignError, toCodesignError } from '../errors/codesign-error.ts';
import { fromFileSystem } from '../files/file-system-errors.ts';
import type { AfterFile, Claim } from '../journal/journal.ts';
import type { ReportStatus, SignatureRecord } from '../service/signing-service.ts';
import type { Batch } from './batch.ts';
import { isoTime } from './iso-time.ts';
import type { FailedOutcome, FileOutcome, SignedOutcome, SkippedOutcome } from './outcome.ts';
import type { PlannedFile } from './plan.ts';
import type { Judgement } from './plan-files.ts';
import { noted } from './service/call.ts';
import type { Reports } from './service/reports.ts';
import { digestToBeSigned } from './service/signatures.ts';
import { type Progress, prepareOnly, type Remote, signFile } from './sign-file.ts';
import type { Signing } from './signing.ts';

export interface Run extends Remote {
  readonly signing: Signing;
  readonly batch: Batch;
  readonly reports: Reports;
}

/** Waits for the report of a file that is otherwise done; called when all files of the run are. */
export type Reporting = () => Promise<FileOutcome>;

/** Signs one file; the report goes on beside the files that follow. */
export async function runFile(judgement: Judgement, run: Run): Promise<Reporting> {
  const { signing, batch, reports } = run;
  const { onEvent } = signing;
  if ('error' in judgement) return done(signing, failed(judgement, judgement.error));
  const { plan } = judgement;
  if (plan.alreadySigned) {
    // No copy is staged, which would look for them.
    await signing.removeLeft?.(dirname(plan.target));
    return done(signing, skipped(plan));
  }

  const started = signing.clock();
  let record: SignatureRecord | undefined;
  let claim: Claim | undefined;
  const warnings = [...plan.warnings];
  const progress: Progress = {
    onClaim(mine) {
      claim = mine;
    },
    onRecord(given) {
      record = given;
    },
    warn(sentence) {
      warnings.push(sentence);
    },
  };
  try {
    batch.assertGoing();
    onEvent({ type: 'file-started', path: plan.path });
    const file = await signFile(plan, signing, run, progress);
    const outcome: SignedOutcome = {
      ...described(plan),
      warnings: [...warnings, ...file.warnings],
      status: 'signed',
      algorithm: signing.algorithm,
      record: file.record.id ?? null,
      reported: false,
      reused: file.reused,
      timestamp: file.stamped === undefined ? null : isoTime(file.stamped.time),
      timestampAuthority: file.stamped?.authority ?? null,
      replaced: plan.replaced,
      bytes: file.bytes,
      milliseconds: Math.round(signing.clock() - started),
    };
    onEvent({ type: 'file-finished', outcome });
    const { record: given, after } = file;
    const isDue = statusOf(after, signing) === 1;
    const reporting = isDue ? reports.send(plan.path, given.id, 1, claim) : undefined;
    return signedWhenReported(outcome, reporting, after.reported === 1, reports);
  } catch (thrown) {
    const error = toCodesignError(fromFileSystem(thrown, 'read or write the file'));
    const given = error.record ?? record?.id;
    const kept = await keepFor(claim, record, error);
    const outcome = { ...failed(judgement, error, given), warnings, kept: kept !== undefined };
    onEvent({ type: 'file-finished', outcome });
    const status = kept === undefined ? 2 : statusOf(kept, signing);
    const reporting = status === undefined ? undefined : reports.send(plan.path, given, status, claim);
    return whenReported(outcome, reporting);
  }
}

/** Apart from where the file was signed: what waits for the end of the run must not hold what was needed until then. */
function signedWhenReported(
  outcome: SignedOutcome,
  reporting: Promise<void> | undefined,
  isReported: boolean,
  reports: Reports,
): Reporting {
  return async () => {
    await reporting;
    // Sent by whichever file of this run came last.
    const reported = isReported || (await reports.isKnown(outcome.record ?? undefined));
    return reported ? { ...outcome, reported } : outcome;
  };
}

function whenReported(outcome: FileOutcome, reporting: Promise<void> | undefined): Reporting {
  return async () => {
    await reporting;
    return outcome;
  };
}

/** The journal keeps a signature that was given, and was not written, for another run. Undefined when it does not. */
async function keepFor(
  claim: Claim | undefined,
  record: SignatureRecord | undefined,
  error: CodesignError,
): Promise<AfterFile | undefined> {
  if (claim === undefined || claim.id === '' || record === undefined) return undefined;
  let kept: AfterFile | undefined;
  await noted(
    async () => {
      kept = await claim.notWritten(error.message, error.code === 'file-changed');
    },
    () => undefined,
  );
  return kept;
}

/** What the service is to be told of a signature that the journal keeps: nothing, as long as a file can still be written. */
function statusOf(
  { reportDue, reported, isUsed, hasFailed }: AfterFile,
  { reportFailures }: Signing,
): ReportStatus | undefined {
  if (reportDue) return 1;
  if (reportFailures !== 'now' || !hasFailed) return undefined;
  const status = isUsed ? 1 : 2;
  return status === reported ? undefined : status;
}

/** A dry run of one file: nothing is asked or written. */
export async function rehearseFile(judgement: Judgement, signing: Signing, batch: Batch): Promise<FileOutcome> {
  const outcome = await rehearsed(judgement, signing, batch);
  signing.onEvent({ type: 'file-finished', outcome });
  return outcome;
}

async function rehearsed(judgement: Judgement, signing: Signing, batch: Batch): Promise<FileOutcome> {
  if ('error' in judgement) return failed(judgement, judgement.error);
  const { plan } = judgement;
  if (plan.alreadySigned) return skipped(plan);
  try {
    batch.assertGoing();
    const { toBeSigned } = await prepareOnly(plan, signing);
    return {
      ...described(plan),
      status: 'planned',
      algorithm: signing.algorithm,
      digest: Buffer.from(digestToBeSigned(toBeSigned, signing)).toString('base64'),
      replaced: plan.replaced,
      bytes: Number(plan.stats.size),
    };
  } catch (thrown) {
    return failed(judgement, toCodesignError(fromFileSystem(thrown, 'read the file')));
  }
}

function done(signing: Signing, outcome: FileOutcome): Reporting {
  signing.onEvent({ type: 'file-finished', outcome });
  return whenReported(outcome, undefined);
}

function described(plan: PlannedFile) {
  return { path: plan.path, output: plan.output, format: plan.format.id, warnings: plan.warnings };
}

function skipped(plan: PlannedFile): SkippedOutcome {
  return { ...described(plan), status: 'skipped' };
}

function failed(judgement: Judgement, error: CodesignError, record?: string): FailedOutcome {
  const known =
    'plan' in judgement
      ? { format: judgement.plan.format.id, warnings: judgement.plan.warnings }
      : { format: judgement.format, warnings: [] };
  return {
    path: judgement.file.path,
    ...known,
    status: 'failed',
    error,
    record: record ?? null,
    kept: false,
  };
}
