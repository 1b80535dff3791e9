/** Requests signatures from the service, each on record in the journal, and checks every answer with the certificate's key. */

import { constants, createHash, verify } from 'node:crypto';
import { join, resolve } from 'node:path';
import type { SigningChain } from '../../certificates/signing-chain.ts';
import { type DigestAlgorithm, NODE_DIGEST_NAME } from '../../crypto/algorithms.ts';
import { fingerprintOf } from '../../crypto/fingerprint.ts';
import { type CodesignError, toCodesignError } from '../../errors/codesign-error.ts';
import { counted } from '../../errors/counted.ts';
import type { InnerFile, SigningContext } from '../../formats/format.ts';
import type { CallMetadata, Claim, RecordedSigningOptions } from '../../journal/journal.ts';
import { isUnauthorized, isWithoutConnection, spoilsBatch } from '../../service/errors.ts';
import type { SignatureRecord, SigningService } from '../../service/signing-service.ts';
import type { Batch } from '../batch.ts';
import type { PlannedFile } from '../change.ts';
import { signingErrors } from '../errors.ts';
import type { SigningEvent } from '../outcome.ts';
import type { Claims } from './call.ts';
import { type AroundAttempts, letGo, noted, requestOnRecord } from './call.ts';
import { type ClientInfo, describeRequest, sentFileName } from './client-info.ts';
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
  readonly batch: Batch;
  readonly now: () => Date;
  readonly onEvent: (event: SigningEvent) => void;
}

/** What is known of a file while it is being signed: a failure is reported with it. */
export interface Attempt {
  /** When it began, by the clock of the run. */
  readonly started: number;
  claim?: Claim;
  record?: SignatureRecord;
  /** Whole sentences. */
  readonly warnings: string[];
  /** Of the files in it that are signed first. */
  readonly inner: Attempt[];
}

/** The file whose signature is requested, with both paths as the user gave them. */
interface FileOfCall extends Pick<PlannedFile, 'path' | 'output' | 'stats'> {
  /** The file in it that the signature is for. */
  readonly inner?: Pick<InnerFile, 'name' | 'size'>;
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

/** Disposing lets other requests go ahead. */
interface SignatureWork extends Disposable {
  readonly claim: Claim;
  readonly turn: RequestTurn;
  readonly digest: Uint8Array;
  readonly algorithm: DigestAlgorithm;
  readonly file: FileOfCall;
  readonly attempt: Attempt;
}

export interface GivenSignature {
  readonly record: SignatureRecord;
  /** The timestamp that the journal has for it. */
  readonly token?: Uint8Array | undefined;
  /** Given for this work before, or to another file: nothing was requested from the service. */
  readonly reused: boolean;
}

export type Signatures = ReturnType<typeof requestSignatures>;

/** The digest that goes to the service. */
export function digestToBeSigned({ toBeSigned, algorithm }: Omit<ToBeSigned, 'time'>): Buffer {
  return createHash(NODE_DIGEST_NAME[algorithm]).update(toBeSigned).digest();
}

export function leafDigest({ leaf }: SigningChain): string {
  return fingerprintOf(leaf.der);
}

/**
 * Until one signature has verified, certificate number and certificate may not belong together and each call may be
 * wasted, so calls go one after the other; from then on concurrently. A mismatch stops the batch, and so does a failure that
 * concerns every call: no connection, a 401, a used-up quota, no usable answers.
 */
export function requestSignatures(options: SignaturesOptions) {
  const { account, context, turns, batch, now, onEvent } = options;
  const { service, origin, code, claims, client } = account;
  const { chain } = context;
  const leaf = leafDigest(chain);
  // If that is unknown, calls go one by one. Perhaps no one requests anything.
  const known = claims.isProven({ origin, code, leaf }).catch(() => false);

  async function claimOnce(digest: string, { time, algorithm }: ToBeSigned, file: FileOfCall): Promise<Claim> {
    batch.assertGoing();
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
    const onWait = (whom: string): void => onEvent({ type: 'waiting', path, whom });
    try {
      return await claims.claim({ origin, code, algorithm, digest }, metadata, { signal: batch.signal, onWait });
    } catch (thrown) {
      if (batch.signal.aborted && toCodesignError(thrown).code === 'claim-interrupted') batch.assertGoing();
      throw thrown;
    }
  }

  /** A known signature that does not verify was given for another certificate: with this one the work has a call of its own. */
  async function claimUsable(digest: string, prepared: ToBeSigned, file: FileOfCall, attempt: Attempt) {
    for (;;) {
      const claim = await claimOnce(digest, prepared, file);
      attempt.claim = claim;
      if (claim.known === undefined) return claim;
      const mismatch = findMismatch(prepared, { id: claim.known.record, signature: claim.known.signature });
      if (mismatch === undefined) return claim;
      await claim.unusable(mismatch.message);
    }
  }

  async function send(
    { digest, algorithm, file, turn }: SignatureWork,
    around: AroundAttempts,
  ): Promise<SignatureRecord> {
    const { path } = file;
    const { name, size } = describeFile(file);
    const request = {
      code,
      algorithm,
      digest,
      extra: describeRequest(client, name, size, now()),
      file: sentFileName(client.replaced, name),
      async beforeSend() {
        await around.beforeSend();
        turn.send();
        onEvent({ type: 'signature-requested', path });
      },
      async beforeRetry(error: CodesignError) {
        turn.repeat(error);
        await around.beforeRetry(error);
      },
    };
    try {
      return await service.sign(request, batch.signal);
    } catch (thrown) {
      const error = toCodesignError(thrown);
      // Stopped while it waited for a retry: then what stopped the batch is the reason, and not this call.
      if (batch.signal.aborted && error.code === 'interrupted') batch.assertGoing();
      if (spoilsBatch(error, turns.isProven())) batch.stop(reasonToStop(error), error);
      turn.fail(error);
      throw error;
    }
  }

  /** The service gave a signature that cannot be used: counted, to be reported as failed. */
  function findMismatch(
    { toBeSigned, algorithm }: Omit<ToBeSigned, 'time'>,
    { id, signature }: SignatureRecord,
  ): CodesignError | undefined {
    const details = { code, certificate: chain.leaf.name };
    if (signature.length !== chain.signatureLength) {
      const why = `: it has ${counted(signature.length, 'byte')}, and this key makes ${chain.signatureLength}`;
      return signingErrors('signature-mismatch', { ...details, why }, { record: id });
    }
    const key = { key: chain.publicKey, padding: constants.RSA_PKCS1_PADDING };
    if (verify(NODE_DIGEST_NAME[algorithm], toBeSigned, key, signature)) return undefined;
    return signingErrors('signature-mismatch', details, { record: id });
  }

  return {
    /**
     * The right to request one signature, or the signature that the journal has for the same work. Waits until a request may
     * be sent, and for another file or process that requests the same.
     */
    async claim(prepared: ToBeSigned, file: FileOfCall, attempt: Attempt): Promise<SignatureWork> {
      onEvent({ type: 'file-step', path: file.path, step: 'asking-service' });
      if (await known) turns.prove();
      const turn = await turns.take();
      try {
        const digest = digestToBeSigned(prepared);
        const claim = await claimUsable(digest.toString('hex'), prepared, file, attempt);
        return {
          claim,
          turn,
          digest,
          algorithm: prepared.algorithm,
          file,
          attempt,
          [Symbol.dispose]: () => turn.leave(),
        };
      } catch (thrown) {
        turn.leave();
        throw thrown;
      }
    },

    /** Sends at most one request. `assertNeeded` throws if the signature would be wasted by now; called directly before. */
    async request(work: SignatureWork, assertNeeded: () => Promise<void>): Promise<GivenSignature> {
      const { claim, file, attempt } = work;
      if (claim.known !== undefined) {
        turns.prove();
        const { record: id, signature, token } = claim.known;
        return { record: { id, signature }, token, reused: true };
      }
      try {
        batch.assertGoing();
        await assertNeeded();
      } catch (thrown) {
        await letGo(claim);
        throw thrown;
      }
      const record = await requestOnRecord(claim, (around) => send(work, around), attempt.warnings);
      onEvent({ type: 'signature-given', path: file.path });
      return { record, reused: false };
    },

    /** Throws `signature-mismatch`, and stops the run: the certificate is not the one that the service signs with. */
    async check(
      { record, reused }: GivenSignature,
      { claim, turn, algorithm, attempt }: SignatureWork,
      toBeSigned: Uint8Array,
    ): Promise<void> {
      // A known one was checked when it was claimed.
      const mismatch = reused ? undefined : findMismatch({ toBeSigned, algorithm }, record);
      if (mismatch !== undefined) {
        batch.stop('the certificate does not match the key at the service', mismatch);
        await noted(() => claim.unusable(mismatch.message), attempt.warnings);
        throw mismatch;
      }
      if (!reused) turn.succeed();
      attempt.record = record;
    },
  };
}

function reasonToStop(error: CodesignError): string {
  if (isUnauthorized(error)) return 'the service does not accept the credentials';
  if (isWithoutConnection(error)) return 'there is no connection to the service';
  if (error.code === 'signature-unreadable') return 'the service gives signatures that cannot be read';
  return 'the service rejects requests of this account, or with this certificate number';
}
