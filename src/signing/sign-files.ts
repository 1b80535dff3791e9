/** A run over several files: all judged before the first request, then signed side by side; one failure stops no other. */

import pLimit from 'p-limit';
import { measureContent } from '../crypto/measure-content.ts';
import { type CodesignError, toCodesignError } from '../errors/codesign-error.ts';
import type { SignatureRecord } from '../service/signing-service.ts';
import { type Batch, startBatch } from './batch.ts';
import { signingErrors } from './errors.ts';
import type { FailedOutcome, FileOutcome, SignedOutcome, SignFilesResult } from './outcome.ts';
import { type PlannedFile, planFile } from './plan.ts';
import { digestToBeSigned, type RequestSignature, requestSignatures, UnusableSignature } from './remote-signature.ts';
import { noReports, type Reports, reportTo } from './report.ts';
import { prepareOnly, signFile } from './sign-file.ts';
import type { FileToSign, Signing } from './signing.ts';

/** A file on its way: planned, or judged unfit. */
type Judgement =
  | { readonly file: FileToSign; readonly plan: PlannedFile }
  | { readonly file: FileToSign; readonly error: CodesignError };

/**
 * Signs the files. Never throws for what one file does: each has its outcome, in the order given. When `signal` aborts,
 * nothing new starts and calls under way are waited for.
 */
export async function signFiles(
  files: readonly FileToSign[],
  signing: Signing,
  signal?: AbortSignal,
): Promise<SignFilesResult> {
  const batch = startBatch();
  const interrupt = (): void => batch.stop('the run was interrupted');
  signal?.addEventListener('abort', interrupt, { once: true });
  if (signal?.aborted) interrupt();
  try {
    const judgements = await judgeAll(files, signing, batch);
    const outcomes = signing.dryRun ? await planAll(judgements, signing) : await signAll(judgements, signing, batch);
    return { files: outcomes, summary: summarise(outcomes) };
  } finally {
    signal?.removeEventListener('abort', interrupt);
  }
}

async function judgeAll(files: readonly FileToSign[], signing: Signing, batch: Batch): Promise<Judgement[]> {
  const limit = pLimit(signing.concurrency);
  const targets = new Set<string>();
  const judge = async (file: FileToSign): Promise<Judgement> => {
    try {
      batch.assertGoing();
      const plan = await planFile(file, signing);
      if (targets.has(plan.target)) throw signingErrors('output-conflict', { target: file.output });
      targets.add(plan.target);
      return { file, plan };
    } catch (thrown) {
      return { file, error: toCodesignError(thrown) };
    }
  };
  const judgements = (await Promise.all(files.map((file) => limit(judge, file)))).filter(isMeant);
  if (signing.allOrNothing && judgements.some((judgement) => 'error' in judgement)) {
    batch.stop('another file of this run cannot be signed, and --all-or-nothing was asked for');
  }
  return judgements;
}

/** Whoever names a folder means the files in it that can be signed. */
function isMeant(judgement: Judgement): boolean {
  const foundInFolder = judgement.file.placeInFolder !== undefined;
  return !(foundInFolder && 'error' in judgement && judgement.error.code === 'unsupported-format');
}

async function planAll(judgements: readonly Judgement[], signing: Signing): Promise<FileOutcome[]> {
  const limit = pLimit(signing.concurrency);
  return Promise.all(judgements.map((judgement) => limit(() => finish(signing, planOne(judgement, signing)))));
}

async function planOne(judgement: Judgement, signing: Signing): Promise<FileOutcome> {
  if ('error' in judgement) return failed(judgement, judgement.error);
  const { plan } = judgement;
  if (plan.alreadySigned) return skipped(plan);
  try {
    const { toBeSigned } = await prepareOnly(plan, signing, measureContent);
    const digest = Buffer.from(digestToBeSigned(toBeSigned, signing)).toString('base64');
    return {
      ...described(plan),
      status: 'planned',
      algorithm: signing.algorithm,
      digest,
      replaced: plan.replaced,
      bytes: Number(plan.stats.size),
    };
  } catch (thrown) {
    return failed(judgement, toCodesignError(thrown));
  }
}

async function signAll(judgements: readonly Judgement[], signing: Signing, batch: Batch): Promise<FileOutcome[]> {
  const { service, code, onEvent } = signing;
  if (service === undefined || code === undefined) throw new Error('signing needs a service and a certificate number');
  const requestSignature = requestSignatures(signing, service, code, batch);
  const reports = signing.report ? reportTo(service, onEvent) : noReports;
  const limit = pLimit(signing.concurrency);
  // The place is given back when the file is done; its report is waited for at the end.
  const pending = await Promise.all(
    judgements.map((judgement) =>
      limit(async () => ({ reporting: await signOne(judgement, signing, batch, requestSignature, reports) })),
    ),
  );
  return Promise.all(pending.map(({ reporting }) => reporting()));
}

/** Signs one file; what it gives back waits for the report. */
async function signOne(
  judgement: Judgement,
  signing: Signing,
  batch: Batch,
  requestSignature: RequestSignature,
  reports: Reports,
): Promise<() => Promise<FileOutcome>> {
  const settled = async (outcome: FileOutcome) => {
    signing.onEvent({ type: 'file-finished', outcome });
    return async () => outcome;
  };
  if ('error' in judgement) return settled(failed(judgement, judgement.error));
  const { plan } = judgement;
  if (plan.alreadySigned) return settled(skipped(plan));

  const { path } = plan;
  const started = signing.clock();
  let record: SignatureRecord | undefined;
  try {
    batch.assertGoing();
    signing.onEvent({ type: 'file-started', path });
    const { bytes } = await signFile(plan, signing, requestSignature, (given) => {
      record = given;
    });
    const id = record?.id;
    const outcome: SignedOutcome = {
      ...described(plan),
      status: 'signed',
      algorithm: signing.algorithm,
      record: id ?? null,
      reported: false,
      reused: false,
      timestamp: null,
      replaced: plan.replaced,
      bytes,
      milliseconds: Math.round(signing.clock() - started),
    };
    signing.onEvent({ type: 'file-finished', outcome });
    const reporting = reports.send(path, id, 1);
    return async () => ({ ...outcome, reported: await reporting });
  } catch (thrown) {
    const error = toCodesignError(thrown);
    const given = error instanceof UnusableSignature ? error.record : record;
    const outcome = failed(judgement, error, given?.id);
    signing.onEvent({ type: 'file-finished', outcome });
    const reporting = reports.send(path, given?.id, 2);
    return async () => {
      await reporting;
      return outcome;
    };
  }
}

async function finish(signing: Signing, work: Promise<FileOutcome>): Promise<FileOutcome> {
  const outcome = await work;
  signing.onEvent({ type: 'file-finished', outcome });
  return outcome;
}

function described(plan: PlannedFile) {
  return { path: plan.path, output: plan.output, format: plan.format.id, warnings: plan.warnings };
}

function skipped(plan: PlannedFile): FileOutcome {
  return { ...described(plan), status: 'skipped' };
}

function failed(judgement: Judgement, error: CodesignError, record?: string): FailedOutcome {
  const plan = 'plan' in judgement ? judgement.plan : undefined;
  return {
    path: judgement.file.path,
    format: plan?.format.id ?? null,
    warnings: plan?.warnings ?? [],
    status: 'failed',
    error,
    record: record ?? null,
  };
}

function summarise(outcomes: readonly FileOutcome[]): SignFilesResult['summary'] {
  const summary = { signed: 0, skipped: 0, failed: 0, planned: 0 };
  for (const { status } of outcomes) summary[status]++;
  return summary;
}
