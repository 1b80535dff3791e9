/** The main flow: signs one file in nine steps. */

import { dirname } from 'node:path';
import { toCodesignError } from '../errors/codesign-error.ts';
import { fromFileSystem } from '../files/file-system-errors.ts';
import type { WrittenSignature } from './existing-signatures.ts';
import { commit, verifyCopy, type Written, writtenOutcome } from './files/commit.ts';
import { outcomesInside } from './files/inner-files.ts';
import { openFile, sha256OfPlanned } from './files/open-file.ts';
import type { FileOutcome, SignatureOutcome, SignedOutcome, SignedPart } from './outcome.ts';
import type { PlannedFile } from './planned-file.ts';
import { prepareSignature } from './prepare-signature.ts';
import { type EndedCall, type FileCall, recordNotWritten, recordWritten } from './service/call.ts';
import { findRecorded } from './service/obtain-signature.ts';
import { recordInner, type SignedUnits, signatureOutcome, signInner, signUnits } from './service/sign-units.ts';
import { isoTime } from './service/timestamps.ts';
import type { SigningRun } from './signing-run.ts';

/** Never throws: a failed file has an outcome too. */
export async function signFile(plan: PlannedFile, run: SigningRun): Promise<FileOutcome> {
  // The journal and the report need the calls even after a failure.
  const calls: FileCall[] = [];
  let ended: Ended;
  try {
    // 1. Open: creates a temporary copy next to the target.
    await using file = await openFile(plan, run);
    // 2. Prepare: digests the content into the data to be signed, and rehearses with a signature of zeros.
    await using prepared = await prepareSignature(plan, file, run);
    // From now on a signature may be requested, so the run must finish this file.
    file.finishAnyway();
    // Steps 2 to 7 are done for the inner files that are signed first.
    const inner = await signInner(prepared, plan, run, calls);
    // 3. Digest, 4. Sign, 5. Check, 6. Timestamp and 7. Seal, for each unit of the file.
    const units = prepared.timedUnits;
    const own = units && (await signUnits(units, plan, run, calls));
    // 8. Commit: writes the envelopes over the zeros in the copy, checks the copy, and renames it to the target.
    const expected = await prepared.embed(own?.sealed);
    const written = await commit(plan, file, verifyCopy(plan, file, expected, inner.expected, run), run);
    ended = signed(plan, { status: 'signed', ...ofUnits(own?.outcomes, inner.outcomes, plan, run) }, written, calls);
  } catch (thrown) {
    ended = await failed(plan, calls, thrown);
  }
  // 9. Report: sends the report to the service when the journal has recorded the outcome.
  run.reports.start(ended.outcome, ended.calls);
  return ended.outcome;
}

/** Completes the records of a file that a killed run has written. */
export async function recordFile(plan: PlannedFile, run: SigningRun): Promise<FileOutcome> {
  const { path, stats } = plan;
  const calls: FileCall[] = [];
  let ended: Ended;
  run.onEvent({ type: 'file-started', path });
  const started = run.clock();
  try {
    await run.disk.removeStaleFiles?.(dirname(plan.target));
    const sha256 = run.fileDigests ? await sha256OfPlanned(plan, run) : undefined;
    const inner = await recordInner(plan, run, calls);
    const own = plan.written && (await recordOwn(plan, plan.written, run, calls));
    const milliseconds = Math.round(run.clock() - started);
    const written = { bytes: Number(stats.size), sha256, milliseconds, warnings: [] };
    ended = signed(plan, { status: 'unchanged', ...ofUnits(own && [own], inner, plan, run) }, written, calls);
  } catch (thrown) {
    ended = await failed(plan, calls, thrown);
  }
  run.reports.start(ended.outcome, ended.calls);
  return ended.outcome;
}

async function recordOwn(
  plan: PlannedFile,
  { signature, digest, algorithm }: WrittenSignature,
  run: SigningRun,
  calls: FileCall[],
): Promise<SignedPart> {
  const given = await findRecorded({ digest, algorithm, time: plan.time }, plan, run, calls);
  const time = signature.timestamps[0]?.time;
  return { name: '', ...signatureOutcome({ algorithm }, given), timestamp: time === undefined ? null : isoTime(time) };
}

interface Ended {
  readonly outcome: FileOutcome;
  readonly calls: Promise<readonly EndedCall[]>;
}

interface Signatures extends SignatureOutcome, Pick<SignedOutcome, 'status' | 'units' | 'inner' | 'inside'> {}

function ofUnits(
  outcomes: SignedUnits['outcomes'] | undefined,
  inner: readonly SignedPart[],
  plan: PlannedFile,
  { context, policy }: Pick<SigningRun, 'context' | 'policy'>,
): Omit<Signatures, 'status'> {
  const inside = policy.inside ? { inside: outcomesInside(plan, inner) } : inner.length > 0 && { inner };
  if (outcomes === undefined) {
    const reused = inner.every((one) => one.reused);
    return { algorithm: context.algorithm, record: null, reused, timestamp: null, timestampAuthority: null, ...inside };
  }
  const [{ name: _, ...first }] = outcomes;
  if (outcomes.length === 1) return { ...first, ...inside };
  const { timestamp, timestampAuthority } = outcomes.find((one) => one.timestamp !== null) ?? first;
  const reused = outcomes.every((one) => one.reused);
  return { ...first, reused, timestamp, timestampAuthority, units: outcomes, ...inside };
}

/** The steps after the rename are not awaited, because a later run would find the signature in the file. */
function signed(plan: PlannedFile, signatures: Signatures, written: Written, calls: readonly FileCall[]): Ended {
  const ended = recordWritten(calls, written.sha256);
  const warnings = calls.flatMap((call) => call.warnings);
  const ofFile = writtenOutcome(plan, written, warnings);
  const outcome: SignedOutcome = { ...ofFile, ...signatures, reported: false, replaced: plan.replaced };
  return { outcome, calls: ended };
}

async function failed(
  { path, format, warnings }: PlannedFile,
  calls: readonly FileCall[],
  thrown: unknown,
): Promise<Ended> {
  const error = toCodesignError(fromFileSystem(thrown, 'read or write the file'));
  const recorded = await recordNotWritten(calls, error);
  const last = recorded.findLast(({ record }) => record !== undefined) ?? recorded.at(-1);
  const outcome: FileOutcome = {
    path,
    format: format.id,
    status: 'failed',
    error,
    record: last?.record ?? null,
    warnings: [...warnings, ...calls.flatMap((call) => call.warnings)],
    kept: last?.isKept ?? false,
  };
  return { outcome, calls: Promise.resolve(recorded) };
}
