import type { Envelopes, SigningUnit } from '../../format/signable-file.ts';
import { innerName } from '../files/inner-files.ts';
import type { SignatureOutcome, SignedPart } from '../outcome.ts';
import type { PlannedFile } from '../planned-file.ts';
import type { PreparedFile, TimedUnits } from '../prepare-signature.ts';
import type { SigningRun } from '../signing-run.ts';
import type { FileCall } from './call.ts';
import { type FileOfCall, findRecorded, type GivenSignature, obtainSignature } from './obtain-signature.ts';
import { isoTime } from './timestamps.ts';

export interface SignedUnits {
  readonly sealed: Envelopes;
  readonly outcomes: readonly [SignedPart, ...SignedPart[]];
}

/** Signs the units one after another, so that a failure costs no further signature. */
export async function signUnits(
  { units: [first, ...others], time }: TimedUnits,
  file: FileOfCall,
  run: SigningRun,
  calls: FileCall[],
): Promise<SignedUnits> {
  const sign = async (unit: SigningUnit) => {
    // 3. Digest, 4. Sign, 5. Check and 6. Timestamp
    const given = await obtainSignature({ ...unit, time }, file, run, calls);
    // 7. Seal
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

/** The journal keeps the timestamps of inner files, because the signature of the outer file covers them. */
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

/** Records the inner files that a killed run has written. The records are committed with those of the whole file. */
export async function recordInner(
  plan: PlannedFile,
  run: SigningRun,
  calls: FileCall[],
): Promise<readonly SignedPart[]> {
  const outcomes: SignedPart[] = [];
  for (const { written, ...file } of plan.contained?.recorded ?? []) {
    const its = { name: innerName(file), size: file.size };
    const given = await findRecorded({ ...written, time: plan.time }, { ...plan, inner: its }, run, calls);
    outcomes.push({ name: its.name, ...signatureOutcome(written, given) });
  }
  return outcomes;
}
