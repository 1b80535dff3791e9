/** THE MAIN FLOW: how one file is signed, in nine steps. */

import { dirname } from 'node:path';
import type { AfterFile, Claim } from '../journal/journal.ts';
import type { Finished, PlannedFile, Run } from './change.ts';
import { signingErrors } from './errors.ts';
import { commit } from './files/commit.ts';
import { openFile } from './files/open-file.ts';
import { lookAgain } from './files/unchanged.ts';
import type { InnerSigned, PlannedOutcome, SignedOutcome, SigningEvent } from './outcome.ts';
import { prepareSignature } from './prepare-signature.ts';
import { noted, REPORT_IS_DUE } from './service/call.ts';
import type { Reports } from './service/reports.ts';
import { signInner } from './service/sign-inner.ts';
import type { Attempt, GivenSignature, Signatures } from './service/signatures.ts';
import { isoTime, type Timestamps } from './service/timestamps.ts';
import type { FindEarlierTimes, RunContext } from './signing-context.ts';
import type { SigningIntent } from './signing-policy.ts';
import type { FindWritten, WrittenSignature } from './written-signature.ts';

export interface SigningRun extends Run<SignedOutcome | PlannedOutcome> {
  readonly onEvent: (event: SigningEvent) => void;
}

/** What the steps work with. */
export interface SigningSteps {
  readonly run: SigningRun;
  readonly context: RunContext;
  readonly findEarlierTimes: FindEarlierTimes;
  readonly findWritten: FindWritten;
  readonly signatures: Signatures;
  readonly timestamps: Timestamps;
  readonly reports: Reports;
}

/** `attempt` is filled in as the steps succeed, so that a failure can be reported with what is known. */
export async function signFile(
  plan: PlannedFile<SigningIntent>,
  steps: SigningSteps,
  attempt: Attempt,
): Promise<Finished<SignedOutcome>> {
  const { run, signatures, timestamps } = steps;
  if (plan.intent.written !== undefined) return await finishWritten(plan, plan.intent.written, steps, attempt);
  // 1. Open: create a temporary copy next to the target.
  await using file = await openFile(plan, run);
  // 2. Prepare: digest the content into what is to be signed, and rehearse with a signature of zeros.
  await using prepared = await prepareSignature(plan, file, steps, timestamps.probableLength());
  // Files in it that are signed first take steps 2 to 7 each.
  const inner = await signInner(prepared, plan, steps, attempt);
  // 3. Digest: it identifies the work. A signature that the journal has for it is reused.
  using work = await signatures.claim(prepared, plan, attempt);
  // 4. Sign: the service, once.
  const given = await signatures.request(work, () => lookAgain(plan));
  // 5. Check the signature with the key of the certificate.
  await signatures.check(given, work, prepared.toBeSigned);
  // 6. Timestamp the signature value.
  const stamped = await timestamps.stamp(plan.path, given.record.signature);
  // 7. Seal: put the envelope into the copy, over the zeros.
  const { check } = await prepared.seal(given.record.signature, stamped?.token);
  // 8. Commit: check the copy, and rename it onto the target.
  const committed = await commit({ plan, ...file, check });
  // 9. Report: to the journal, to the listener, to the service.
  return await report(plan, given, { stamped, inner, ...committed }, attempt, steps);
}

/** How the signed file stands on the disk. */
interface Written {
  readonly stamped: { readonly time: Date | undefined; readonly authority: string | null } | undefined;
  readonly inner?: readonly InnerSigned[] | undefined;
  /** Size of the file. */
  readonly bytes: number;
  /** Whole sentences on what went wrong after the file was in place. */
  readonly warnings: readonly string[];
}

/** Of a file that a run wrote which was killed before it recorded that: only the records are missing. */
async function finishWritten(
  plan: PlannedFile<SigningIntent>,
  { signature, toBeSigned }: WrittenSignature,
  steps: SigningSteps,
  attempt: Attempt,
): Promise<Finished<SignedOutcome>> {
  const { run, signatures } = steps;
  const { algorithm, time } = plan.intent;
  await run.disk.removeStaleFiles?.(dirname(plan.target));
  using work = await signatures.claim({ toBeSigned, algorithm, time }, plan, attempt);
  const given = await signatures.request(work, async () => {
    // Another process has recorded it meanwhile.
    throw signingErrors('changed-since');
  });
  const warning = 'It has exactly this signature already, from a run that was interrupted. It does not change.';
  const stamped = { time: signature.timestamps[0]?.time, authority: null };
  return await report(plan, given, { stamped, bytes: Number(plan.stats.size), warnings: [warning] }, attempt, steps);
}

async function report(
  plan: PlannedFile<SigningIntent>,
  { record, reused }: GivenSignature,
  { stamped, inner, bytes, warnings }: Written,
  attempt: Attempt,
  { run, reports }: Pick<SigningSteps, 'run' | 'reports'>,
): Promise<Finished<SignedOutcome>> {
  const written: WrittenCall[] = [];
  const innerCalls = attempt.inner.map(({ claim, record: its }) => ({ claim, id: its?.id }));
  for (const { claim, id } of [...innerCalls, { claim: attempt.claim, id: record.id }]) {
    // A report that is sent twice costs nothing; one that is never sent does.
    let after: AfterFile = REPORT_IS_DUE;
    await noted(async () => {
      after = (await claim?.written(plan.target)) ?? after;
    }, attempt.warnings);
    written.push({ claim, after, record: id });
  }
  const outcome: SignedOutcome = {
    path: plan.path,
    output: plan.output,
    format: plan.format.id,
    warnings: [...attempt.warnings, ...warnings],
    status: 'signed',
    algorithm: plan.intent.algorithm,
    record: record.id ?? null,
    reported: false,
    reused,
    timestamp: stamped?.time === undefined ? null : isoTime(stamped.time),
    timestampAuthority: stamped?.authority ?? null,
    replaced: plan.intent.replaced,
    ...(inner === undefined ? {} : { inner }),
    bytes,
    milliseconds: Math.round(run.clock() - attempt.started),
  };
  return { outcome, startReport: () => reportWritten(outcome, written, reports) };
}

/** A call whose signature is in the file. */
interface WrittenCall {
  readonly claim: Claim | undefined;
  readonly after: AfterFile;
  readonly record: string | undefined;
}

function reportWritten(
  outcome: SignedOutcome,
  calls: readonly WrittenCall[],
  reports: Reports,
): () => Promise<SignedOutcome> {
  const sending = calls.map(({ claim, after, record }) =>
    after.reportDue ? reports.send(outcome.path, record, 1, claim) : undefined,
  );
  // What is waited with stands until the end of the run, so it has nothing of the claims.
  const records = calls.map(({ after, record }) => (after.reported === 1 ? undefined : { record }));
  return async () => {
    await Promise.all(sending);
    // Whichever file of this run came last sent it.
    const known = records.map((one) => one === undefined || reports.isKnown(one.record));
    const reported = (await Promise.all(known)).every(Boolean);
    return reported ? { ...outcome, reported } : outcome;
  };
}
