/** The main flow signs one file in nine steps. */

import { dirname } from 'node:path';
import { toCodesignError } from '../errors/codesign-error.ts';
import { fromFileSystem } from '../files/file-system-errors.ts';
import type { Envelope } from '../format/signature.ts';
import { finish } from './change-each.ts';
import { commit, verifyCopy, type Written, writtenOutcome } from './files/commit.ts';
import { openFile, sha256OfPlanned } from './files/open-file.ts';
import type { FileOutcome, InnerSigned, SignedOutcome } from './outcome.ts';
import type { PlannedFile, WrittenSignature } from './planned-file.ts';
import { prepareSignature } from './prepare-signature.ts';
import { type EndedCall, type FileCall, recordNotWritten, recordWritten } from './service/call.ts';
import { type GivenSignature, obtainSignature } from './service/obtain-signature.ts';
import { signInner } from './service/sign-inner.ts';
import { isoTime, type StampedSignature } from './service/timestamps.ts';
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
    // From here on a signature may be requested, so the run must finish the file.
    file.finishAnyway();
    // Inner files that are signed first go through steps 2 to 7.
    const inner = await signInner(prepared, plan, run, calls);
    // 3. Digest: identifies the work. If the journal has a signature for it, that one is used. 4. Sign: requests the
    // signature from the service, only once. 5. Check: verifies the signature with the key of the certificate.
    // 6. Timestamp: timestamps the signature value.
    const sealed: Envelope[] = [];
    const given: GivenSignature[] = [];
    for (const unit of prepared.units) {
      const one = await obtainSignature({ ...unit, time: prepared.time }, plan, run, calls);
      // 7. Seal: builds the envelope.
      sealed.push(unit.seal(one.record.signature, one.stamped?.token));
      given.push(one);
    }
    // 8. Commit: writes the envelopes over the zeros in the copy, checks the copy, and renames it to the target.
    const expected = await prepared.embed(sealed);
    const written = await commit(plan, file, verifyCopy(plan, file, expected), run);
    const done = { status: 'signed', algorithm: prepared.algorithm, ...ofUnits(given), inner, written } as const;
    ended = signed(plan, done, calls);
  } catch (thrown) {
    ended = await failed(plan, calls, thrown);
  }
  // 9. Report: notifies the listener, then the service.
  report(ended, run);
  return ended.outcome;
}

/** Handles a file whose run was killed after writing it, so only the records are missing. */
export async function recordFile(
  plan: PlannedFile,
  { signature, digest, algorithm }: WrittenSignature,
  run: SigningRun,
): Promise<FileOutcome> {
  const { path, time, stats } = plan;
  const calls: FileCall[] = [];
  let ended: Ended;
  run.onEvent({ type: 'file-started', path });
  const started = run.clock();
  try {
    await run.disk.removeStaleFiles?.(dirname(plan.target));
    const sha256 = await sha256OfPlanned(plan, run);
    const unit = { digest, algorithm, time, timestamp: 'on-signature' } as const;
    const given = await obtainSignature(unit, { ...plan, isWritten: true }, run, calls);
    const milliseconds = Math.round(run.clock() - started);
    const written = { bytes: Number(stats.size), sha256, milliseconds, warnings: [] };
    const stamped = { time: signature.timestamps[0]?.time };
    const done = { status: 'unchanged', algorithm, ...given, stamped, inner: undefined, written } as const;
    ended = signed(plan, done, calls);
  } catch (thrown) {
    ended = await failed(plan, calls, thrown);
  }
  report(ended, run);
  return ended.outcome;
}

interface Ended {
  readonly outcome: FileOutcome;
  readonly calls: Promise<readonly EndedCall[]>;
}

interface SignedFile extends Pick<SignedOutcome, 'status' | 'algorithm'>, Pick<GivenSignature, 'record' | 'reused'> {
  readonly stamped: Omit<StampedSignature, 'token'> | undefined;
  readonly inner: readonly InnerSigned[] | undefined;
  readonly written: Written;
}

function ofUnits(given: readonly GivenSignature[]): Pick<GivenSignature, 'record' | 'reused' | 'stamped'> {
  const [first] = given;
  if (first === undefined) throw new TypeError('a file has at least one unit');
  const stamped = given.find((one) => one.stamped !== undefined)?.stamped;
  return { record: first.record, reused: given.every(({ reused }) => reused), stamped };
}

/** The steps after the rename are not awaited: the next run would find the signature in the file. */
function signed(
  plan: PlannedFile,
  { status, algorithm, record, reused, stamped, inner, written }: SignedFile,
  calls: readonly FileCall[],
): Ended {
  const ended = recordWritten(calls, { target: plan.target, sha256: written.sha256 });
  const warnings = calls.flatMap((call) => call.warnings);
  const outcome: SignedOutcome = {
    ...writtenOutcome(plan, written, warnings),
    status,
    algorithm,
    record: record.id ?? null,
    reported: false,
    reused,
    timestamp: stamped?.time === undefined ? null : isoTime(stamped.time),
    timestampAuthority: stamped?.authority ?? null,
    replaced: plan.replaced,
    ...(inner === undefined ? {} : { inner }),
  };
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

function report({ outcome, calls }: Ended, run: SigningRun): void {
  finish(outcome, run);
  run.reports.start(outcome, calls);
}
