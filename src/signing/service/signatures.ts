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
import { leafDigest, matchKey } from './key-match.ts';
import type { RequestTurn, RequestTurns } from './request-turns.ts';

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
  readonly turns: RequestTurns;
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
  readonly turn: RequestTurn;
  readonly prepared: ToBeSigned;
  readonly file: FileOfCall;
  /** Grows. */
  readonly warnings: string[];
}

/** Disposing lets other requests go ahead. */
export interface GivenSignature extends Disposable {
  readonly claim: Claim;
  readonly record: SignatureRecord;
  /** The timestamp that the journal has for it. */
  readonly token: Uint8Array | undefined;
  /** Given for this work before, or to another file: nothing was requested from the service. */
  readonly reused: boolean;
}

export type Signatures = ReturnType<typeof requestSignatures>;

/** The digest that goes to the service. */
export function digestToBeSigned({ toBeSigned, algorithm }: Omit<ToBeSigned, 'time'>): Buffer {
  return createHash(NODE_DIGEST_NAME[algorithm]).update(toBeSigned).digest();
}

/**
 * Until one signature has verified, certificate number and certificate may not belong together and each call may be
 * wasted, so calls go one after the other; from then on concurrently. A mismatch stops the run, and so does a failure that
 * concerns every call: no connection, a 401, a used-up quota, no usable answers.
 */
export function requestSignatures(options: SignaturesOptions) {
  const { account, context, turns, stop, now, onEvent } = options;
  const { service, origin, code, claims, client } = account;
  const { chain } = context;
  const leaf = leafDigest(chain);
  const key = matchKey(chain, code);
  const pair = { origin, code, leaf };
  // If that is unknown, calls go one by one. Perhaps no one requests anything.
  const known = claims.isProven(pair).catch(() => false);

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
      if (stop.signal.aborted && toCodesignError(thrown).code === 'claim-interrupted') stop.throwIfStopped();
      throw thrown;
    }
  }

  async function send({ prepared, file, turn }: SignatureWork, attempts: RecordedAttempts): Promise<SignatureRecord> {
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
        turn.send();
        onEvent({ type: 'signature-requested', path });
      },
      async beforeRetry(error: CodesignError) {
        turn.repeat(error);
        await attempts.beforeRetry();
      },
    };
    try {
      return await service.sign(request, stop.signal);
    } catch (thrown) {
      const error = toCodesignError(thrown);
      // Stopped while it waited for a retry: then what stopped the run is the reason, and not this call.
      if (stop.signal.aborted && error.code === 'interrupted') stop.throwIfStopped();
      if (stopsRun(error, turns.isProven())) stop.stop(reasonToStop(error), error);
      turn.fail(error);
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
    try {
      stop.throwIfStopped();
      // Another process has recorded it meanwhile.
      if (file.isWritten) throw signingErrors('changed-since');
      const mismatches = await claims.mismatches(pair);
      if (mismatches.length > 0) throw stopBy(key.knownMismatch(mismatches));
    } catch (thrown) {
      await releaseQuietly(claim);
      throw thrown;
    }
    for (const warning of await checkEarlierCalls(claim)) warnings.push(warning);
    const attempts = recordAttempts(claim, file, warnings);
    const record = await recordAnswer(send(work, attempts), attempts, claim, warnings);
    onEvent({ type: 'signature-given', path: file.path });
    return record;
  }

  /** Throws `signature-mismatch`, and stops the run: the certificate is not the one that the service signs with. */
  async function check(record: SignatureRecord, { claim, turn, prepared, warnings }: SignatureWork): Promise<void> {
    if (!key.verifies(prepared, record)) {
      const mismatch = stopBy(key.newMismatch(record, claim.id));
      await recordOrWarn(claim.unusable(mismatch.message), warnings);
      throw mismatch;
    }
    turn.succeed();
  }

  async function requestChecked(work: SignatureWork): Promise<SignatureRecord> {
    const record = await request(work);
    await check(record, work);
    return record;
  }

  return {
    /**
     * Returns the signature that the journal has for the same work, or requests one. Waits until a request may be sent, and
     * for another file or process that requests the same. Adds the call to `calls`, also if it fails.
     */
    async obtain(prepared: ToBeSigned, file: FileOfCall, calls: FileCall[]): Promise<GivenSignature> {
      onEvent({ type: 'file-step', path: file.path, step: 'asking-service' });
      if (await known) turns.prove();
      const turn = await turns.take();
      const end = { [Symbol.dispose]: () => turn.leave() };
      const warnings: string[] = [];
      let claim: Claim | undefined;
      try {
        claim = await claimWork(prepared, file);
        // A known one was checked when it was claimed.
        if (claim.known !== undefined) turns.prove();
        const record = recordOf(claim) ?? (await requestChecked({ claim, turn, prepared, file, warnings }));
        calls.push({ claim, record, warnings });
        return { ...end, claim, record, token: claim.known?.token, reused: claim.known !== undefined };
      } catch (thrown) {
        if (claim !== undefined) calls.push({ claim, record: undefined, warnings });
        turn.leave();
        throw thrown;
      }
    },
  };
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
