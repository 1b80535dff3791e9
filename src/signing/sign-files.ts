/** A run of `sign`: signing is the change that requests a signature from the service. */

import { toCodesignError } from '../errors/codesign-error.ts';
import { fromFileSystem } from '../files/file-system-errors.ts';
import type { AfterFile } from '../journal/journal.ts';
import type { TimestampAuthorities } from '../timestamp/authorities.ts';
import { type Batch, isNotAttempted } from './batch.ts';
import { checkCatalogMembers } from './catalog-members.ts';
import type { Change, Finished, Planned, PlannedFile } from './change.ts';
import type {
  FailedOutcome,
  FileOutcome,
  FileToSign,
  PlannedOutcome,
  SignedOutcome,
  SignFilesResult,
} from './outcome.ts';
import { prepareOnly } from './prepare-signature.ts';
import { runFiles, safeListener } from './run-files.ts';
import { noted } from './service/call.ts';
import { type Reports, reportTo } from './service/reports.ts';
import { takeTurns } from './service/request-turns.ts';
import { type Account, type Attempt, requestSignatures } from './service/signatures.ts';
import { requestTimestamps } from './service/timestamps.ts';
import { type SigningRun, type SigningSteps, signFile } from './sign-file.ts';
import { earlierTimes, type RunContext } from './signing-context.ts';
import { checkSignatureLimit, decideSigning, type SigningIntent, type SigningPolicy } from './signing-policy.ts';
import { findWrittenWith } from './written-signature.ts';

/** What one run of signing works with, put together by src/app. */
export interface Signing {
  readonly run: SigningRun;
  readonly context: RunContext;
  readonly policy: SigningPolicy;
  /** Undefined in a dry run. */
  readonly account: Account | undefined;
  /** Undefined for signatures without a timestamp. */
  readonly authorities: TimestampAuthorities | undefined;
  readonly now: () => Date;
}

type SigningChange = Change<SigningIntent, SignedOutcome | PlannedOutcome>;

/**
 * Signs the files. Each has its outcome, in the order given; what one file does is never thrown. Throws `too-many-signatures`
 * for the run. When `signal` aborts, nothing new starts and calls under way are waited for.
 */
export async function signFiles(
  files: readonly FileToSign[],
  given: Signing,
  signal?: AbortSignal,
): Promise<SignFilesResult> {
  const { onEvent, warnings } = safeListener(given.run.onEvent);
  const signing: Signing = { ...given, run: { ...given.run, onEvent } };
  const { account } = signing;
  const findWritten = account && findWrittenWith(account);
  const start = (batch: Batch): SigningChange => ({
    isRehearsal: account === undefined,
    // A result elsewhere is a file that is still to be made.
    decide: (opened, { path, output }, format) =>
      decideSigning(
        opened,
        format,
        { ...signing.context, time: signing.now() },
        signing.policy,
        path === output ? findWritten : undefined,
      ),
    checkRun: (planned) => checkRun(planned, signing, batch),
    perform: performWith(signing, batch, signal),
  });
  const outcomes = await runFiles(files, signing.run, start, signal);
  return { files: outcomes, summary: summarise(outcomes), warnings };
}

/** With --all-or-nothing one unfit file stops the batch. */
async function checkRun(
  planned: readonly Planned<SigningIntent>[],
  { run, policy }: Signing,
  batch: Batch,
): Promise<void> {
  if (policy.allOrNothing && planned.some((one) => 'error' in one)) {
    batch.stop('another file of this run cannot be signed, and --all-or-nothing was used');
  }
  checkSignatureLimit(planned, policy);
  await checkCatalogMembers(planned, run);
}

function performWith(
  { run, context, policy, account, authorities, now }: Signing,
  batch: Batch,
  signal: AbortSignal | undefined,
): SigningChange['perform'] {
  if (account === undefined) return (plan) => rehearse(plan, context, run);
  const { onEvent, concurrency } = run;
  const { service, client } = account;
  const { existing, report } = policy;
  const signingOptions = {
    existing: existing === 'skip-any' ? ('skip' as const) : existing,
    formatOptions: context.formatOptions,
    report,
  };
  const turns = takeTurns(batch, authorities !== undefined);
  const steps: SigningSteps = {
    run,
    context,
    findEarlierTimes: earlierTimes(account),
    findWritten: findWrittenWith(account),
    signatures: requestSignatures({ account, context, signingOptions, turns, batch, now, onEvent }),
    timestamps: requestTimestamps(authorities, turns, batch, onEvent),
    reports: reportTo({ service: report ? service : undefined, concurrency, onEvent, client, signal }),
  };
  return async (plan) => {
    const attempt: Attempt = { started: run.clock(), warnings: [...plan.warnings], inner: [] };
    try {
      return await signFile(plan, steps, attempt);
    } catch (thrown) {
      return await failed(plan, attempt, thrown, steps.reports);
    }
  };
}

/** A dry run of one file. */
async function rehearse(
  plan: PlannedFile<SigningIntent>,
  context: RunContext,
  run: SigningRun,
): Promise<Finished<PlannedOutcome>> {
  const { path, output, format, warnings, intent, stats } = plan;
  const prepared = await prepareOnly(plan, context, run);
  const outcome: PlannedOutcome = {
    path,
    output,
    format: format.id,
    warnings,
    status: 'planned',
    algorithm: intent.algorithm,
    ...prepared,
    replaced: intent.replaced,
    bytes: Number(stats.size),
  };
  return { outcome };
}

/** The journal keeps signatures that were given, and were not written, for another run. */
async function failed(
  plan: PlannedFile<SigningIntent>,
  attempt: Attempt,
  thrown: unknown,
  reports: Reports,
): Promise<Finished<FailedOutcome>> {
  const error = toCodesignError(fromFileSystem(thrown, 'read or write the file'));
  // What was thrown is of the last one that was begun.
  const begun = [...attempt.inner, ...(attempt.claim === undefined && attempt.inner.length > 0 ? [] : [attempt])];
  const calls = await Promise.all(
    begun.map(async ({ claim, record }, index) => {
      const given = (index === begun.length - 1 ? error.record : undefined) ?? record?.id;
      let kept: AfterFile | undefined;
      if (claim !== undefined && claim.id !== '' && record !== undefined) {
        await noted(async () => {
          kept = await claim.notWritten(error.message, error.code === 'file-changed');
        });
      }
      return { claim, given, kept };
    }),
  );
  const { path, format } = plan;
  const last = calls.findLast(({ given }) => given !== undefined) ?? calls.at(-1);
  const outcome: FailedOutcome = {
    path,
    format: format.id,
    status: 'failed',
    error,
    record: last?.given ?? null,
    warnings: attempt.warnings,
    kept: last?.kept !== undefined,
  };
  const startReport = () => {
    const sending = calls.map(({ claim, given, kept }) => {
      if (kept === undefined) return reports.send(path, given, 2, claim);
      return kept.reportDue ? reports.send(path, given, 1, claim) : undefined;
    });
    return waitFor(sending, outcome);
  };
  return { outcome, startReport };
}

/** What it returns stands until the end of the run, so it has nothing of the claims. */
function waitFor<Outcome>(sending: readonly unknown[], outcome: Outcome): () => Promise<Outcome> {
  return async () => {
    await Promise.all(sending);
    return outcome;
  };
}

function summarise(outcomes: readonly FileOutcome[]): SignFilesResult['summary'] {
  const summary = { signed: 0, skipped: 0, failed: 0, planned: 0, notAttempted: 0 };
  for (const outcome of outcomes) {
    summary[outcome.status]++;
    if (isNotAttempted(outcome)) summary.notAttempted++;
  }
  return summary;
}
