/** Steps 3 to 6 of the main flow: gets the signature from the journal, or requests it from the service once. */

import { join, resolve } from 'node:path';
import { CodesignError, toCodesignError } from '../../errors/codesign-error.ts';
import { fromFileSystem } from '../../files/file-system-errors.ts';
import type { ContainedFile, SigningUnit } from '../../format/signable-file.ts';
import type { Claim, ClaimRequest, KnownCall } from '../../journal/journal.ts';
import { isUnauthorized, isWithoutConnection, mayHaveBeenCounted, stopsRun } from '../../service/errors.ts';
import type { SignatureRecord } from '../../service/signing-service.ts';
import { signingErrors, signingWarnings } from '../errors.ts';
import { assertUnchanged, type Versions } from '../files/unchanged.ts';
import type { PlannedFile } from '../planned-file.ts';
import type { SigningRun } from '../signing-run.ts';
import { describeRequest, sentFileName } from './account.ts';
import { addWarningTo, type FileCall } from './call.ts';
import type { Permit } from './gate.ts';
import type { StampedSignature } from './timestamps.ts';

/** `time` is the signing time, which the journal records with the request. */
interface TimedUnit extends Pick<SigningUnit, 'digest' | 'algorithm' | 'timestamp'> {
  readonly time: Date;
}

export interface FileOfCall extends Versions, Pick<PlannedFile, 'output' | 'pathInFolder'> {
  readonly inner?: Pick<ContainedFile, 'name' | 'size'>;
}

const MISMATCH = 'the certificate does not match the key at the service';

export interface GivenSignature {
  readonly record: SignatureRecord;
  /** True if the signature comes from the journal. */
  readonly reused: boolean;
  /** undefined if the signature gets no timestamp, or if the file already contains it. */
  readonly stamped: StampedSignature | undefined;
}

/** Adds the call to `calls`, even when the call fails. */
export async function obtainSignature(
  unit: TimedUnit,
  file: FileOfCall,
  run: SigningRun,
  calls: FileCall[],
): Promise<GivenSignature> {
  const claimRequest = claimRequestFor(unit, file, run);
  run.onEvent({ type: 'file-step', path: file.path, step: 'asking-service' });
  for (let isFirst = true; ; isFirst = false) {
    run.stop.throwIfStopped();
    // If a request may be sent immediately, `claim` also shows whether the journal has the signature.
    const early = isFirst ? run.gate.enterIfFree() : undefined;
    const known = early ? undefined : await useKnown(claimRequest, unit, file, run, calls);
    if (known !== undefined) return known;
    using permit = early ?? (await run.gate.enter());
    const claim = await run.account.journal.claim(claimRequest);
    if (claim === undefined) continue;
    if (claim.isProven) run.gate.prove();
    const warnings = claim.unknownCalls.map((id) => signingWarnings('call-unknown', { id }));
    const call: FileCall = { claim, record: undefined, warnings };
    calls.push(call);
    const given = await requestSignature(unit, { file, claim, permit, warnings }, run);
    if (given === undefined) continue;
    const { record, isKept } = given;
    call.record = record;
    // An interruption would lose a signature that the journal does not keep, so its timestamp is requested anyway.
    const stamped = await stamp(unit, record, claim, file, run, isKept ? run.interruption : undefined);
    permit.confirm({ stamped: stamped !== undefined });
    return { record, reused: false, stamped };
  }
}

/** Returns the signature that the file already contains. The caller then records that it is written. */
export async function findRecorded(
  unit: Omit<TimedUnit, 'timestamp'>,
  file: FileOfCall,
  run: SigningRun,
  calls: FileCall[],
): Promise<GivenSignature> {
  run.onEvent({ type: 'file-step', path: file.path, step: 'asking-service' });
  run.stop.throwIfStopped();
  const known = await useKnown(claimRequestFor(unit, file, run), { ...unit, timestamp: 'none' }, file, run, calls);
  // Another process has just recorded that the signature was written.
  if (known === undefined) throw signingErrors('changed-since');
  return known;
}

/** Uses the signature in the journal, if there is one. Waits while another file or process requests it. */
async function useKnown(
  claimRequest: ClaimRequest,
  unit: TimedUnit,
  file: FileOfCall,
  run: SigningRun,
  calls: FileCall[],
): Promise<GivenSignature | undefined> {
  const known = await knownCall(claimRequest, file, run);
  if (known === undefined) return undefined;
  const { record: id, signature } = known.known;
  const record = { id, signature };
  calls.push({ claim: known, record, warnings: [] });
  // A signature from the journal was not requested now, so it does not show that further requests will succeed.
  return { record, reused: true, stamped: await stamp(unit, record, known, file, run, run.interruption) };
}

function describeFile(
  { path, stats, inner }: FileOfCall,
  { signingOptions }: Pick<SigningRun, 'signingOptions'>,
): { readonly name: string; readonly size: number } {
  return inner === undefined
    ? { name: path, size: Number(stats.size) }
    : { name: signingOptions.inside ? `${path}!/${inner.name}` : join(path, inner.name), size: inner.size };
}

function claimRequestFor(unit: Omit<TimedUnit, 'timestamp'>, file: FileOfCall, run: SigningRun): ClaimRequest {
  const { account, context, key, signingOptions, stop } = run;
  const { origin, code, client } = account;
  const { path, output, inner, pathInFolder } = file;
  const { name, size } = describeFile(file, run);
  const { algorithm, time } = unit;
  return {
    work: { origin, code, algorithm, digest: Buffer.from(unit.digest).toString('hex') },
    metadata: {
      file: name,
      bytes: size,
      certificate: { name: context.chain.leaf.name, sha256: key.leaf },
      client: client.id,
      // The paths are absolute, because `resume` may run in another folder.
      signingOptions: {
        path: resolve(path),
        output: resolve(output),
        ...signingOptions,
        inner: inner?.name,
        ...(signingOptions.inside && { pathInFolder }),
        time: time.toISOString(),
      },
    },
    verifies: (signature) => key.verifies(unit, signature),
    mismatch(calls, isOfAll) {
      // Another file in this run has already reported the same mismatch.
      stop.throwIfStopped();
      const error = key.knownMismatch(calls);
      if (isOfAll) stop.stop(MISMATCH, error);
      return error;
    },
  };
}

async function knownCall(
  claimRequest: ClaimRequest,
  { path }: FileOfCall,
  run: SigningRun,
): Promise<KnownCall | undefined> {
  const { account, stop, onEvent } = run;
  const onWait = (whom: string): void => onEvent({ type: 'waiting', path, whom });
  try {
    return await account.journal.known(claimRequest, { signal: stop.signal, onWait });
  } catch (thrown) {
    // If the run was stopped, the error must state the reason, unless the mismatch itself is the reason.
    if (toCodesignError(thrown).code !== 'signature-mismatch') stop.throwIfStopped();
    throw thrown;
  }
}

async function stamp(
  { timestamp }: TimedUnit,
  { signature }: SignatureRecord,
  call: KnownCall | Claim,
  { path, inner }: FileOfCall,
  { timestamps }: SigningRun,
  signal: AbortSignal | undefined,
): Promise<StampedSignature | undefined> {
  if (timestamp === 'none') return undefined;
  return await (inner ? timestamps.stampOnRecord : timestamps.stamp)(path, signature, call, signal);
}

interface Claimed {
  readonly file: FileOfCall;
  readonly claim: Claim;
  readonly permit: Permit;
  readonly warnings: string[];
}

/**
 * Sends one signature request with its retries, and records the outcome. Returns undefined if another process has
 * taken over the request. A signature that does not verify, or a failure that affects every request, stops the run.
 */
async function requestSignature(unit: TimedUnit, claimed: Claimed, run: SigningRun) {
  const { file, claim, warnings } = claimed;
  const record = await send(unit, claimed, run);
  run.onEvent({ type: 'signature-given', path: file.path });
  if (!run.key.verifies(unit, record.signature)) {
    const mismatch = run.key.newMismatch(record, claim.id);
    run.stop.stop(MISMATCH, mismatch);
    await claim.unusable({ ...record, record: record.id }, mismatch.message).catch(addWarningTo(warnings));
    throw mismatch;
  }
  const kept = await claim.signed({ ...record, record: record.id }).catch(addWarningTo(warnings));
  return kept === 'surplus' ? undefined : { record, isKept: kept !== undefined };
}

async function send(unit: TimedUnit, claimed: Claimed, run: SigningRun): Promise<SignatureRecord> {
  const { file, claim, permit, warnings } = claimed;
  const { account, gate, stop, onEvent, now } = run;
  const { service, code, client } = account;
  const { name, size } = describeFile(file, run);
  let isRecorded = false;
  let isSent = false;
  /** Error of the previous attempt if its outcome is unknown and the request is retried. */
  let unknown: CodesignError | undefined;
  const requested = {
    code,
    algorithm: unit.algorithm,
    digest: unit.digest,
    extra: describeRequest(client, name, size, now()),
    file: sentFileName(client.replaced, name),
    async beforeSend() {
      isSent = false;
      await claim.requested(unknown !== undefined);
      isRecorded = true;
    },
    /** A signature for a changed file would be wasted. */
    beforeWrite() {
      stop.throwIfStopped();
      try {
        assertUnchanged(file);
      } catch (thrown) {
        throw fromFileSystem(thrown, 'look at the file again');
      }
      claim.mayBeSent();
      isSent = true;
      const warning = unknown && signingWarnings('request-repeated', { reason: unknown.message });
      if (warning !== undefined && !warnings.includes(warning)) warnings.push(warning);
      permit.send();
      onEvent({ type: 'signature-requested', path: file.path });
    },
    verifies: (signature: Uint8Array) => run.key.verifies(unit, signature),
    mayRepeat: permit.mayRepeat,
    async beforeRetry(error: CodesignError) {
      // Until the request is sent again, the journal's state of the call stays `requested`.
      if (mayHaveBeenCounted(error)) unknown = error;
      else if (isRecorded) await claim.deferred().catch(addWarningTo(warnings));
      isRecorded = false;
      isSent = false;
      await permit.repeat(error);
    },
  };
  try {
    return await service.sign(requested, stop.signal);
  } catch (thrown) {
    const last = toCodesignError(thrown);
    const error = unknown === undefined ? last : errorOfRepetition(last, unknown);
    if (unknown === undefined && !isSent) await claim.release();
    else if (mayHaveBeenCounted(error)) await claim.unanswered(error.message).catch(addWarningTo(warnings));
    else await claim.refused(error.message).catch(addWarningTo(warnings));
    // If the run was stopped while this request waited, the error must state the reason.
    if (error.code === 'interrupted') stop.throwIfStopped();
    if (stopsRun(last, gate.isProven())) stop.stop(reasonToStop(last), last);
    permit.fail(last);
    throw error;
  }
}

/** Whatever the outcome of the second attempt is, the first attempt may have been counted. */
function errorOfRepetition(last: CodesignError, first: CodesignError): CodesignError {
  if (last.code === 'interrupted' || last === first) return first;
  return new CodesignError({ ...last, message: last.message, cause: last.cause ?? first, mayHaveBeenCounted: true });
}

function reasonToStop(error: CodesignError): string {
  if (isUnauthorized(error)) return 'the service does not accept the credentials';
  if (isWithoutConnection(error)) return 'there is no connection to the service';
  if (error.code === 'signature-unreadable') return 'the service returns signatures that cannot be read';
  return 'the service rejects requests of this account, or with this certificate number';
}
