/** Signs inner files before their bundle, each with steps 2 to 7 of the main flow. */

import type { Embedding } from '../../format/signable-file.ts';
import { contentReader } from '../../formats/recognise.ts';
import type { InnerSigned } from '../outcome.ts';
import type { PlannedFile } from '../planned-file.ts';
import { type PreparedFile, prepareInner } from '../prepare-signature.ts';
import type { SigningRun } from '../signing-run.ts';
import type { FileCall } from './call.ts';
import { obtainSignature } from './obtain-signature.ts';
import { isoTime } from './timestamps.ts';

/**
 * Signs one file after the other, so that a failure costs no further signature. The signature of the bundle depends on
 * the inner timestamps too, so the journal keeps them. Returns undefined if there is nothing to sign first.
 */
export async function signInner(
  prepared: PreparedFile,
  plan: PlannedFile,
  run: SigningRun,
  calls: FileCall[],
): Promise<readonly InnerSigned[] | undefined> {
  await findRecorded(prepared, plan, run, calls);
  if (prepared.inner.length === 0) return undefined;
  const embeddings = new Map<string, Embedding>();
  const outcomes: InnerSigned[] = [];
  for (const inner of prepared.inner) {
    const { name } = inner;
    const { prepared: its, algorithm, time } = await prepareInner(inner, prepared.context, run);
    const [unit] = its.units;
    const given = await obtainSignature({ ...unit, time }, { ...plan, inner }, run, calls);
    const { record, reused, stamped } = given;
    embeddings.set(name, its.embed([unit.seal(record.signature, stamped?.token)]));
    const timestamp = stamped?.time === undefined ? null : isoTime(stamped.time);
    outcomes.push({ name, algorithm, record: record.id ?? null, reused, timestamp });
  }
  await prepared.putInner(embeddings);
  return outcomes;
}

/** Finds inner signatures of a run that was killed before it recorded that they were written. */
async function findRecorded(
  { kept, context }: PreparedFile,
  plan: PlannedFile,
  run: SigningRun,
  calls: FileCall[],
): Promise<void> {
  const { time } = context;
  for (const inner of kept) {
    const file = await inner.open(contentReader(run.digestEntries));
    const algorithm = inner.fixedAlgorithm?.algorithm ?? context.algorithm;
    const written = await run.findWritten(await file.signatures(), { ...context, algorithm });
    if (written === undefined) continue;
    await obtainSignature(
      { ...written, timestamp: 'on-signature', time },
      { ...plan, inner, isWritten: true },
      run,
      calls,
    );
  }
}
