/** Steps 3 to 6 of the main flow: the signature of a work, from the journal or from the service, with one request. */

import { join, resolve } from 'node:path';
import { CodesignError, toCodesignError } from '../../errors/codesign-error.ts';
import { fromFileSystem } from '../../files/file-system-errors.ts';
import type { InnerFile } from '../../format/signable-file.ts';
import type { Asking, Claim, KnownCall } from '../../journal/journal.ts';
import { isUnauthorized, isWithoutConnection, mayHaveBeenCounted, stopsRun } from '../../service/errors.ts';
import type { SignatureRecord } from '../../service/signing-service.ts';
import { signingErrors, signingWarnings } from '../errors.ts';
import { assertUnchanged, type Versions } from '../files/unchanged.ts';
import type { PlannedFile } from '../planned-file.ts';
import type { SigningRun } from '../signing-run.ts';
import { type FileCall, orWarn } from './call.ts';
import { describeRequest, sentFileName } from './client-info.ts';
import type { Permit } from './gate.ts';
import { digestToBeSigned, type Signed } from './key-match.ts';
import type { StampedSignature } from './timestamps.ts';

/** What the signature is requested for. `time`: signed by formats that sign one; recorded with the request. */
interface ToBeSigned extends Signed {
  readonly time: Date;
}

/** The file whose signature is requested, with both paths as the user gave them. */
interface FileOfCall extends Versions, Pick<PlannedFile, 'output'> {
  /** The file in it that the signature is for. */
  readonly inner?: Pick<InnerFile, 'name' | 'size'>;
  /** It has the signature already, so none is requested. */
  readonly isWritten?: boolean;
}

/** Why a run stops. */
const MISMATCH = 'the certificate does not match the key at the service';

export interface GivenSignature {
  readonly record: SignatureRecord;
  /** Given for this work before, or to another file: nothing was requested from the service. */
  readonly reused: boolean;
  /** Undefined for signatures without a timestamp, and if the file has it already. */
  readonly stamped: StampedSignature | undefined;
}

/** Adds the call to `calls`, also if it fails. */
export async function obtainSignature(
  unit: ToBeSigned,
  file: FileOfCall,
  run: SigningRun,
  calls: FileCall[],
): Promise<GivenSignature> {
  const { journal } = run.account;
  const asking = askFor(unit, file, run);
  run.onEvent({ type: 'file-step', path: file.path, step: 'asking-service' });
  for (;;) {
    run.stop.throwIfStopped();
    const known = await knownCall(asking, file, run);
    if (known !== undefined) {
      const { record: id, signature } = known.known;
      const record = { id, signature };
      calls.push({ claim: known, record, warnings: [] });
      // It needs no permit, and opens the gate for no other.
      return { record, reused: true, stamped: await stamp(record, known, file, run, run.interruption) };
    }
    // Another process has recorded it meanwhile.
    if (file.isWritten) throw signingErrors('changed-since');
    using permit = await run.gate.enter();
    const claim = await journal.claim(asking);
    if (claim === undefined) continue;
    if (claim.isProven) run.gate.prove();
    const warnings = claim.unknownCalls.map((id) => signingWarnings('call-unknown', { id }));
    const call: FileCall = { claim, record: undefined, warnings };
    calls.push(call);
    const given = await request(unit, { file, claim, permit, warnings }, run);
    if (given === undefined) continue;
    const { record, isKept } = given;
    call.record = record;
    // A signature that is not on record would be lost.
    const stamped = await stamp(record, claim, file, run, isKept ? run.interruption : undefined);
    permit.confirm({ stamped: stamped !== undefined });
    return { record, reused: false, stamped };
  }
}

/** What calls say of the file that the signature is for. */
function describeFile({ path, stats, inner }: FileOfCall): { readonly name: string; readonly size: number } {
  return inner === undefined
    ? { name: path, size: Number(stats.size) }
    : { name: join(path, inner.name), size: inner.size };
}

function askFor(
  unit: ToBeSigned,
  file: FileOfCall,
  { account, context, key, signingOptions, stop }: SigningRun,
): Asking {
  const { origin, code, client } = account;
  const { path, output, inner } = file;
  const { name, size } = describeFile(file);
  const { algorithm, time } = unit;
  return {
    work: { origin, code, algorithm, digest: digestToBeSigned(unit).toString('hex') },
    metadata: {
      file: name,
      bytes: size,
      certificate: { name: context.chain.leaf.name, sha256: key.leaf },
      client: client.id,
      // Absolute: `resume` may run in another folder.
      signingOptions: {
        path: resolve(path),
        output: resolve(output),
        ...signingOptions,
        inner: inner?.name,
        time: time.toISOString(),
      },
    },
    verifies: (signature) => key.verifies(unit, signature),
    mismatch(calls, isOfAll) {
      // Another file of the run has met it before.
      stop.throwIfStopped();
      const error = key.knownMismatch(calls);
      if (isOfAll) stop.stop(MISMATCH, error);
      return error;
    },
  };
}

/** Waits while another file or process requests the signature. */
async function knownCall(asking: Asking, { path }: FileOfCall, run: SigningRun): Promise<KnownCall | undefined> {
  const { account, stop, onEvent } = run;
  const onWait = (whom: string): void => onEvent({ type: 'waiting', path, whom });
  try {
    return await account.journal.known(asking, { signal: stop.signal, onWait });
  } catch (thrown) {
    // What stopped the run is the reason then; a mismatch may have.
    if (toCodesignError(thrown).code !== 'signature-mismatch') stop.throwIfStopped();
    throw thrown;
  }
}

async function stamp(
  { signature }: SignatureRecord,
  call: KnownCall | Claim,
  { path, inner, isWritten }: FileOfCall,
  { timestamps }: SigningRun,
  signal: AbortSignal | undefined,
): Promise<StampedSignature | undefined> {
  if (isWritten) return undefined;
  return await (inner ? timestamps.stampOnRecord : timestamps.stamp)(path, signature, call, signal);
}

/** A claimed piece of work, and the right to send one request for it. */
interface Claimed {
  readonly file: FileOfCall;
  readonly claim: Claim;
  readonly permit: Permit;
  /** Grows. */
  readonly warnings: string[];
}

interface NewSignature {
  readonly record: SignatureRecord;
  /** Whether the journal could record it. */
  readonly isKept: boolean;
}

/**
 * Sends one request, and sends it once more if the run may repeat it. Settles the claim on every way out. Returns undefined if
 * another process has the work now. A mismatch stops the run, and so does a failure that concerns every call: no connection, a
 * 401, a used-up quota.
 */
async function request(unit: ToBeSigned, claimed: Claimed, run: SigningRun): Promise<NewSignature | undefined> {
  const { file, claim, warnings } = claimed;
  const record = await send(unit, claimed, run);
  run.onEvent({ type: 'signature-given', path: file.path });
  if (!run.key.verifies(unit, record.signature)) {
    const mismatch = run.key.newMismatch(record, claim.id);
    run.stop.stop(MISMATCH, mismatch);
    await orWarn(claim.unusable({ ...record, record: record.id }, mismatch.message), warnings);
    throw mismatch;
  }
  const kept = await orWarn(claim.signed({ ...record, record: record.id }), warnings);
  return kept === 'surplus' ? undefined : { record, isKept: kept !== undefined };
}

async function send(unit: ToBeSigned, claimed: Claimed, run: SigningRun): Promise<SignatureRecord> {
  const { file, claim, permit, warnings } = claimed;
  const { account, gate, stop, onEvent, now } = run;
  const { service, code, client } = account;
  const { name, size } = describeFile(file);
  /** Whether the journal has the attempt as one that may be sent, and whether a byte of it was. */
  let isRecorded = false;
  let isSent = false;
  /** Why the outcome of the first attempt is unknown, once it is repeated. */
  let unknown: CodesignError | undefined;
  const requested = {
    code,
    algorithm: unit.algorithm,
    digest: digestToBeSigned(unit),
    extra: describeRequest(client, name, size, now()),
    file: sentFileName(client.replaced, name),
    async beforeSend() {
      isSent = false;
      await claim.requested(unknown !== undefined);
      isRecorded = true;
    },
    /** A signature of a file that has changed would be wasted. What throws here is not sent. */
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
    mayRepeat: permit.mayRepeat,
    async beforeRetry(error: CodesignError) {
      // It stays recorded as requested until it is sent again.
      if (mayHaveBeenCounted(error)) unknown = error;
      else if (isRecorded) await orWarn(claim.deferred(failureOf(error)), warnings);
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
    else if (mayHaveBeenCounted(error)) await orWarn(claim.unanswered(failureOf(error)), warnings);
    else await orWarn(claim.refused(failureOf(error)), warnings);
    // Stopped while it waited for a retry: then what stopped the run is the reason, and not this call.
    if (error.code === 'interrupted') stop.throwIfStopped();
    if (stopsRun(last, gate.isProven())) stop.stop(reasonToStop(last), last);
    permit.fail(last);
    throw error;
  }
}

/** The first attempt may have been counted, whatever became of the second. */
function errorOfRepetition(last: CodesignError, first: CodesignError): CodesignError {
  if (last.code === 'interrupted' || last === first) return first;
  return new CodesignError({ ...last, message: last.message, cause: last.cause ?? first, mayHaveBeenCounted: true });
}

function failureOf({ message, httpStatus, serviceCode }: CodesignError) {
  return { reason: message, httpStatus, serviceCode };
}

function reasonToStop(error: CodesignError): string {
  if (isUnauthorized(error)) return 'the service does not accept the credentials';
  if (isWithoutConnection(error)) return 'there is no connection to the service';
  if (error.code === 'signature-unreadable') return 'the service gives signatures that cannot be read';
  return 'the service rejects requests of this account, or with this certificate number';
}
