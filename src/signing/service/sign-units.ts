/** Steps 3 to 7 of the main flow, for each unit of a file, and for each inner file that is signed first. */

import type { Embedding, Envelopes, Prepared, SigningUnit } from '../../format/signable-file.ts';
import { contextFor, openContained, prepareContained } from '../files/contained.ts';
import type { SignatureOutcome, SignedPart } from '../outcome.ts';
import type { PlannedFile } from '../planned-file.ts';
import type { PreparedFile } from '../prepare-signature.ts';
import type { SigningRun } from '../signing-run.ts';
import type { FileCall } from './call.ts';
import { type FileOfCall, type GivenSignature, obtainSignature } from './obtain-signature.ts';
import { isoTime } from './timestamps.ts';

export interface SignedUnits {
  readonly sealed: Envelopes;
  readonly outcomes: readonly [SignedPart, ...SignedPart[]];
}

/**
 * Signs the units one after another, so that a failure does not cost any further signature. In some formats, `time` is
 * the signing time that the signature covers.
 */
export async function signUnits(
  { units: [first, ...others], time }: Pick<Prepared, 'units'> & { readonly time: Date },
  file: FileOfCall,
  run: SigningRun,
  calls: FileCall[],
): Promise<SignedUnits> {
  const sign = async (unit: SigningUnit) => {
    // 3. Digest: identifies the work. If the journal has a signature for it, that one is used. 4. Sign: requests the
    // signature from the service, only once. 5. Check: verifies the signature with the key of the certificate.
    // 6. Timestamp: requests a timestamp for the signature value.
    const given = await obtainSignature({ ...unit, time }, file, run, calls);
    // 7. Seal: builds the envelope.
    const envelope = unit.seal(given.record.signature, given.stamped?.token);
    return { envelope, outcome: { name: unit.name, ...signatureOutcome(unit, given) } };
  };
  const { envelope, outcome } = await sign(first);
  const sealed: [...Envelopes] = [envelope];
  const outcomes: [SignedPart, ...SignedPart[]] = [outcome];
  for (const unit of others) {
    const next = await sign(unit);
    sealed.push(next.envelope);
    outcomes.push(next.outcome);
  }
  return { sealed, outcomes };
}

export function signatureOutcome(
  { algorithm }: Pick<SigningUnit, 'algorithm'>,
  { record, reused, stamped }: GivenSignature,
): SignatureOutcome {
  const timestamp = stamped?.time === undefined ? null : isoTime(stamped.time);
  return { algorithm, record: record.id ?? null, reused, timestamp, timestampAuthority: stamped?.authority ?? null };
}

/**
 * The signature of the whole file also depends on the timestamps of the inner files, so the journal keeps those
 * timestamps.
 */
export async function signContained(prepared: PreparedFile, plan: PlannedFile, run: SigningRun, calls: FileCall[]) {
  const { contained, context } = prepared;
  await findRecorded(prepared, plan, run, calls);
  const embeddings = new Map<string, Embedding>();
  const outcomes: SignedPart[] = [];
  for (const file of contained.toSign) {
    const its = await prepareContained(file, context, plan.format, run);
    const units = { units: its.units, time: context.time };
    const signed = await signUnits(units, { ...plan, inner: file }, run, calls);
    embeddings.set(file.name, its.embed(signed.sealed));
    for (const one of signed.outcomes) outcomes.push({ ...one, name: file.name });
  }
  if (embeddings.size > 0) await prepared.changeContained(embeddings);
  return { expected: embeddings, outcome: outcomes.length === 0 ? {} : { inner: outcomes } };
}

/**
 * Finds the signatures of inner files if the previous run was killed before it could record that they were written.
 * These signatures are recorded together with the signature of the whole file.
 */
async function findRecorded(
  { contained, context }: PreparedFile,
  plan: PlannedFile,
  run: SigningRun,
  calls: FileCall[],
): Promise<void> {
  for (const inner of contained.kept) {
    const file = await openContained(inner, plan.format, run);
    const own = contextFor(inner, context);
    const written = await run.findWritten(await file.signatures(), own);
    if (written === undefined) continue;
    const unit = { ...written, timestamp: 'on-signature', time: own.time } as const;
    await obtainSignature(unit, { ...plan, inner, isWritten: true }, run, calls);
  }
}
