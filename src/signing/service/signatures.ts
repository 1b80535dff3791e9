/** Requests signatures from the service, each on record in the journal, and checks every answer with the certificate's key. */

import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { type DigestAlgorithm, NODE_DIGEST_NAME } from '../../crypto/algorithms.ts';
import { type CodesignError, toCodesignError } from '../../errors/codesign-error.ts';
import type { InnerFile, SigningContext } from '../../formats/format.ts';
import type { CallMetadata, Claim, ClaimOptions, RecordedSigningOptions } from '../../journal/journal.ts';
import { isUnauthorized, isWithoutConnection, stopsRun } from '../../service/errors.ts';
import type { SignatureRecord, SigningService } from '../../service/signing-service.ts';
import { signingErrors } from '../errors.ts';
import type { SigningEvent } from '../outcome.ts';
import type { PlannedFile } from '../planned-file.ts';
import type { StopSignal } from '../run.ts';
import {
  type Claims,
  checkEarlierCalls,
  type FileCall,
  type RecordedAttempts,
  recordAnswer,
  recordAttempts,
  recordOrWarn,
  releaseQuietly,
} from './call.ts';
import { type ClientInfo, describeRequest, sentFileName } from './client-info.ts';
import type { Gate, Permit } from './gate.ts';
import { leafDigest, matchKey } from './key-match.ts';
import type { StampedSignature, Timestamps } from './timestamps.ts';

/** The account at the service that signs, and what records its calls. */
export interface Account {
  readonly service: SigningService;
  /** Scheme, host and port of the service. */
  readonly origin: string;
  /** Number of the certificate at the service. */
  readonly code: string;
  /** The journal, or its replacement. */
  readonly claims: Claims;
  /** What the calls say about this client. */
  readonly client: ClientInfo;
}

interface SignaturesOptions {
  readonly account: Account;
  readonly context: Pick<SigningContext, 'chain'>;
  /** What `resume` needs to prepare the very same. */
  readonly signingOptions: Omit<RecordedSigningOptions, 'path' | 'output' | 'inner' | 'time'>;
  readonly gate: Gate;
  readonly timestamps: Timestamps;
  readonly stop: StopSignal;
  readonly now: () => Date;
  readonly onEvent: (event: SigningEvent) => void;
}

/** The file whose signature is requested, with both paths as the user gave them. */
interface FileOfCall extends Pick<PlannedFile, 'path' | 'output' | 'stats' | 'target' | 'targetVersion'> {
  /** The file in it that the signature is for. */
  readonly inner?: Pick<InnerFile, 'name' | 'size'>;
  /** It has the signature already, so none is requested. */
  readonly isWritten?: boolean;
}

/** What calls say of the file that the signature is for. */
function describeFile({ path, stats, inner }: FileOfCall): { readonly name: string; readonly size: number } {
  return inner === undefined
    ? { name: path, size: Number(stats.size) }
    : { name: join(path, inner.name), size: inner.size };
}

/** What the signature is requested for. `time`: signed by formats that sign one; recorded with the request. */
interface ToBeSigned {
  readonly toBeSigned: Uint8Array;
  readonly algorithm: DigestAlgorithm;
  readonly time: Date;
}

/** A claimed piece of work, and the right to send one request for it. */
interface SignatureWork {
  readonly claim: Claim;
  readonly permit: Permit;
  readonly prepared: ToBeSigned;
  readonly file: FileOfCall;
  /** Grows. */
  readonly warnings: string[];
}

export interface GivenSignature {
  readonly record: SignatureRecord;
  /** Given for this work before, or to another file: nothing was requested from the service. */
  readonly reused: boolean;
  /** Undefined for signatures without a timestamp, and if the file has it already. */
  readonly stamped: StampedSignature | undefined;
}

export type Signatures = ReturnType<typeof requestSignatures>;

/** The digest that goes to the service. */
export function digestToBeSigned({ toBeSigned, algorithm }: Omit<ToBeSigned, 'time'>): Buffer {
  return createHash(NODE_DIGEST_NAME[algorithm]).update(toBeSigned).digest();
}

/**
 * A mismatch stops the run, and so does a failure that concerns every call: no connection, a 401, a used-up quota, no usable
 * answers.
 */
export function requestSignatures(options: SignaturesOptions) {
  const { account, context, gate, timestamps, stop, now, onEvent } = options;
  const { service, origin, code, claims, client } = account;
  const { chain } = context;
  const leaf = leafDigest(chain);
  const key = matchKey(chain, code);
  const pair = { origin, code, leaf };
  // If that cannot be read, the run stops sooner.
  const isProven = claims.isProven(pair).catch(() => false);

  /** Throws `signature-mismatch` if a signature that the journal has for the work does not verify. */
  async function claimWork(prepared: ToBeSigned, file: FileOfCall): Promise<Claim> {
    stop.throwIfStopped();
    const { time, algorithm } = prepared;
    const { path, output, inner } = file;
    const { name, size } = describeFile(file);
    const metadata: CallMetadata = {
      file: name,
      bytes: size,
      certificate: { name: chain.leaf.name, sha256: leaf },
      client: client.id,
      // Absolute: `resume` may run in another folder.
      signingOptions: {
        path: resolve(path),
        output: resolve(output),
        ...options.signingOptions,
        inner: inner?.name,
        time: time.toISOString(),
      },
    };
    const claimOptions: ClaimOptions = {
      signal: stop.signal,
      findMismatch: (signed, call) => (key.verifies(prepared, signed) ? undefined : key.knownMismatch([call])),
      onWait: (whom) => onEvent({ type: 'waiting', path, whom }),
    };
    const digest = digestToBeSigned(prepared).toString('hex');
    try {
      return await claims.claim({ origin, code, algorithm, digest }, metadata, claimOptions);
    } catch (thrown) {
      // What stopped the run is the reason then, and not that another file of it waits, or has failed.
      stop.throwIfStopped();
      throw thrown;
    }
  }

  async function send({ prepared, file, permit }: SignatureWork, attempts: RecordedAttempts): Promise<SignatureRecord> {
    const { path } = file;
    const { name, size } = describeFile(file);
    const request = {
      code,
      algorithm: prepared.algorithm,
      digest: digestToBeSigned(prepared),
      extra: describeRequest(client, name, size, now()),
      file: sentFileName(client.replaced, name),
      async beforeSend() {
        await attempts.beforeSend();
        permit.send();
        onEvent({ type: 'signature-requested', path });
      },
      async beforeRetry(error: CodesignError) {
        await attempts.beforeRetry();
        await permit.repeat(error);
      },
    };
    try {
      return await service.sign(request, stop.signal);
    } catch (thrown) {
      const error = toCodesignError(thrown);
      // Stopped while it waited for a retry: then what stopped the run is the reason, and not this call.
      if (stop.signal.aborted && error.code === 'interrupted') stop.throwIfStopped();
      if (stopsRun(error, gate.isProven())) stop.stop(reasonToStop(error), error);
      permit.fail(error);
      throw error;
    }
  }

  function stopBy(mismatch: CodesignError): CodesignError {
    stop.stop('the certificate does not match the key at the service', mismatch);
    return mismatch;
  }

  /** Sends at most one request. */
  async function request(work: SignatureWork): Promise<SignatureRecord> {
    const { claim, file, warnings } = work;
    const attempts = recordAttempts(claim, file, warnings);
    const record = await recordAnswer(send(work, attempts), attempts, claim, warnings);
    onEvent({ type: 'signature-given', path: file.path });
    return record;
  }

  /** Throws `signature-mismatch`, and stops the run: the certificate is not the one that the service signs with. */
  async function check(record: SignatureRecord, { claim, prepared, warnings }: SignatureWork): Promise<void> {
    if (key.verifies(prepared, record)) return;
    const mismatch = stopBy(key.newMismatch(record, claim.id));
    await recordOrWarn(claim.unusable(mismatch.message), warnings);
    throw mismatch;
  }

  /** Throws what forbids a request for this work, of whatever run. */
  async function checkEarlier({ claim, warnings }: FileCall, { isWritten }: FileOfCall): Promise<void> {
    // Another process has recorded it meanwhile.
    if (isWritten) throw signingErrors('changed-since');
    for (const warning of checkEarlierCalls(claim)) warnings.push(warning);
    if (await isProven) gate.prove();
  }

  async function checkPair(): Promise<void> {
    const mismatches = await claims.mismatches(pair);
    if (mismatches.length > 0) throw stopBy(key.knownMismatch(mismatches));
  }

  async function stamp({ path, inner, isWritten }: FileOfCall, { claim }: FileCall, { signature }: SignatureRecord) {
    if (isWritten) return undefined;
    if (inner) return await timestamps.stampOnRecord(path, signature, claim);
    return await timestamps.stamp(path, signature, claim.known === undefined);
  }

  return {
    /**
     * Returns the signature that the journal has for the same work, or requests one, and its timestamp. Waits for another file
     * or process that requests the same, and only then until a request may be made. Adds the call to `calls`, also if it fails.
     */
    async obtain(prepared: ToBeSigned, file: FileOfCall, calls: FileCall[]): Promise<GivenSignature> {
      onEvent({ type: 'file-step', path: file.path, step: 'asking-service' });
      const claim = await claimWork(prepared, file);
      const known = recordOf(claim);
      const call: FileCall = { claim, record: known, warnings: [] };
      calls.push(call);
      // Was checked when it was claimed. It needs no permit, and opens the gate for no other.
      if (known !== undefined) return { record: known, reused: true, stamped: await stamp(file, call, known) };
      await orRelease(claim, checkEarlier(call, file));
      using permit = await orRelease(claim, gate.enter());
      await orRelease(claim, checkPair());
      const work = { claim, permit, prepared, file, warnings: call.warnings };
      const record = await request(work);
      await check(record, work);
      call.record = record;
      const stamped = await stamp(file, call, record);
      permit.confirm({ stamped: stamped !== undefined });
      return { record, reused: false, stamped };
    },
  };
}

async function orRelease<T>(claim: Claim, step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (thrown) {
    await releaseQuietly(claim);
    throw thrown;
  }
}

function recordOf({ known }: Claim): SignatureRecord | undefined {
  return known && { id: known.record, signature: known.signature };
}

function reasonToStop(error: CodesignError): string {
  if (isUnauthorized(error)) return 'the service does not accept the credentials';
  if (isWithoutConnection(error)) return 'there is no connection to the service';
  if (error.code === 'signature-unreadable') return 'the service gives signatures that cannot be read';
  return 'the service rejects requests of this account, or with this certificate number';
}
