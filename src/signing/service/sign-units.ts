/** Steps 3 to 7 of the main flow, for each unit of a file, and for each inner file that is signed first. */

import type { Envelopes, SigningUnit } from '../../format/signable-file.ts';
import { innerName } from '../files/inner-files.ts';
import type { SignatureOutcome, SignedPart } from '../outcome.ts';
import type { PlannedFile } from '../planned-file.ts';
import type { PreparedFile, TimedUnits } from '../prepare-signature.ts';
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
  { units: [first, ...others], time }: TimedUnits,
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
 * The signature of the outer file also covers the timestamps of the inner files, so the journal keeps these timestamps.
 */
export async function signInner(prepared: PreparedFile, plan: PlannedFile, run: SigningRun, calls: FileCall[]) {
  await recordInner(plan, run, calls);
  const outcomes: SignedPart[] = [];
  const expected = await prepared.changeInner(async (file, units) => {
    const inner = { name: innerName(file), size: file.size };
    const signed = await signUnits(units, { ...plan, inner }, run, calls);
    for (const one of signed.outcomes) outcomes.push({ ...one, name: inner.name });
    return signed.sealed;
  });
  return { expected, outcomes };
}

/**
 * Records that inner files were written, in case the previous run was killed before it did so. These records are
 * committed together with the records of the whole file.
 */
export async function recordInner(
  plan: PlannedFile,
  run: SigningRun,
  calls: FileCall[],
): Promise<readonly SignedPart[]> {
  const outcomes: SignedPart[] = [];
  for (const { written, ...file } of plan.contained?.recorded ?? []) {
    const unit = { ...written, timestamp: 'on-signature', time: plan.time } as const;
    const its = { name: innerName(file), size: file.size };
    const given = await obtainSignature(unit, { ...plan, inner: its, isWritten: true }, run, calls);
    outcomes.push({ name: its.name, ...signatureOutcome(unit, given) });
  }
  return outcomes;
}
