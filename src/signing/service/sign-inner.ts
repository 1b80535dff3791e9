/** Signing the files in a file before it: each by steps 2 to 7 of the main flow. */

import { speaksAgainst } from '../../errors/finding.ts';
import type { Embedding } from '../../formats/format.ts';
import { contentReader } from '../../formats/recognise.ts';
import { readTimestampToken } from '../../timestamp/read-token.ts';
import type { PlannedFile, Run } from '../change.ts';
import { signingErrors } from '../errors.ts';
import { lookAgain } from '../files/unchanged.ts';
import type { InnerSigned } from '../outcome.ts';
import { type PreparedFile, prepareInner } from '../prepare-signature.ts';
import type { RunContext } from '../signing-context.ts';
import type { SigningIntent } from '../signing-policy.ts';
import type { FindWritten } from '../written-signature.ts';
import type { Attempt, GivenSignature, Signatures } from './signatures.ts';
import { isoTime, type Timestamps } from './timestamps.ts';

interface InnerSteps {
  readonly run: Pick<Run<never>, 'digestEntries'>;
  readonly context: RunContext;
  readonly signatures: Signatures;
  readonly timestamps: Timestamps;
  readonly findWritten: FindWritten;
}

/**
 * One after the other: what keeps one from being signed costs no signature of those behind it. The signature of the whole
 * depends on the timestamps in it too, so the journal keeps them. Undefined if there is nothing to sign first.
 */
export async function signInner(
  prepared: PreparedFile,
  plan: PlannedFile<SigningIntent>,
  steps: InnerSteps,
  attempt: Attempt,
): Promise<readonly InnerSigned[] | undefined> {
  await findRecorded(prepared, plan, steps, attempt);
  if (prepared.inner.length === 0) return undefined;
  const { run, signatures, context } = steps;
  const embeddings = new Map<string, Embedding>();
  const outcomes: InnerSigned[] = [];
  for (const inner of prepared.inner) {
    const { name } = inner;
    const own: Attempt = { started: attempt.started, warnings: attempt.warnings, inner: [] };
    attempt.inner.push(own);
    const { prepared: its, algorithm, time } = await prepareInner(inner, plan, context, run);
    using work = await signatures.claim({ toBeSigned: its.toBeSigned, algorithm, time }, { ...plan, inner }, own);
    const given = await signatures.request(work, () => lookAgain(plan));
    await signatures.check(given, work, its.toBeSigned);
    const stamped = await stampOnRecord(given, plan, steps, own);
    embeddings.set(name, its.embed(its.seal(given.record.signature, stamped?.token)));
    const timestamp = stamped?.time === undefined ? null : isoTime(stamped.time);
    outcomes.push({ name, algorithm, record: given.record.id ?? null, reused: given.reused, timestamp });
  }
  await prepared.putInner(embeddings);
  return outcomes;
}

/** Those that a run has signed which was killed before it could record that they are written: it is recorded with the whole. */
async function findRecorded(
  { kept }: PreparedFile,
  plan: PlannedFile<SigningIntent>,
  { run, context, signatures, findWritten }: InnerSteps,
  attempt: Attempt,
): Promise<void> {
  const { time } = plan.intent;
  for (const inner of kept) {
    const file = await inner.open(contentReader(run.digestEntries));
    const algorithm = inner.fixedAlgorithm?.algorithm ?? plan.intent.algorithm;
    const written = await findWritten(await file.signatures(), { ...context, algorithm, time });
    if (written === undefined) continue;
    const own: Attempt = { started: attempt.started, warnings: attempt.warnings, inner: [] };
    using work = await signatures.claim({ ...written, algorithm, time }, { ...plan, inner }, own);
    const { record } = await signatures.request(work, async () => {
      // Another process has recorded it meanwhile.
      throw signingErrors('changed-since');
    });
    attempt.inner.push({ ...own, record });
  }
}

/** The timestamp that the journal has for the signature, or a new one, which the journal has before it is used. */
async function stampOnRecord(
  { record: { signature }, token }: GivenSignature,
  { path }: PlannedFile,
  { timestamps }: Pick<InnerSteps, 'timestamps'>,
  { claim }: Attempt,
): Promise<{ readonly token: Uint8Array; readonly time: Date | undefined } | undefined> {
  if (!timestamps.areWanted) return undefined;
  if (token !== undefined) {
    const { findings, time } = readTimestampToken(token, signature);
    if (!speaksAgainst(findings, 'integrity') && !speaksAgainst(findings, 'trust')) return { token, time };
  }
  const stamped = await timestamps.stamp(path, signature);
  if (stamped !== undefined) await claim?.stamped(stamped.token);
  return stamped;
}
