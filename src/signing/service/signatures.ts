/** Requests signatures from the service: at most one unproven call at a time. Checks every answer with the certificate's key. */

import { createHash } from 'node:crypto';
import { NODE_DIGEST_NAME } from '../../crypto/algorithms.ts';
import { isRsaSignature } from '../../crypto/rsa-signature.ts';
import { type CodesignError, toCodesignError } from '../../errors/codesign-error.ts';
import type { Claim, SignatureOnRecord } from '../../journal/journal.ts';
import { isUnauthorized, isWithoutConnection, spoilsBatch } from '../../service/errors.ts';
import type { Extra } from '../../service/messages.ts';
import type { SignatureRecord, SigningService } from '../../service/signing-service.ts';
import type { Batch } from '../batch.ts';
import { signingErrors } from '../errors.ts';
import type { Signing } from '../signing.ts';
import { type AroundAttempts, askOnRecord, type FileOfCall, factsOf, letGo, noted, workOf } from './call.ts';
import { maskFilename } from './client-info.ts';
import { type RequestTurn, takeTurns } from './request-turns.ts';

export interface SignatureWork extends FileOfCall {
  readonly toBeSigned: Uint8Array;
  readonly extra: Extra | undefined;
  /** Throws when the signature would be in vain by now; called directly before the request. */
  readonly beforeRequest: () => Promise<void>;
  /** Hears of the part in a call that this file has, as soon as there is one. */
  readonly onClaim: (claim: Claim) => void;
  readonly warn: (sentence: string) => void;
}

export interface GivenSignature {
  readonly record: SignatureRecord;
  /** Given for this work before, or to another file: nothing was asked of the service. */
  readonly reused: boolean;
}

/** One signature for one piece of work, asked for or known. */
export type RequestSignature = (work: SignatureWork) => Promise<GivenSignature>;

/** The digest of `toBeSigned` that goes to the service. */
export function digestToBeSigned(toBeSigned: Uint8Array, { algorithm }: Pick<Signing, 'algorithm'>): Uint8Array {
  return createHash(NODE_DIGEST_NAME[algorithm]).update(toBeSigned).digest();
}

/**
 * Until one signature has verified, certificate number and certificate may not belong together and each call may be
 * wasted, so calls go one after the other; from then on concurrently. A 401 or a mismatch stops the batch. So does a
 * service that cannot be reached as long as it has not given a signature, and one that gives no usable answers.
 */
export function requestSignatures(
  signing: Signing,
  service: SigningService,
  code: string,
  batch: Batch,
): RequestSignature {
  const turns = takeTurns(batch);
  const leaf = createHash('sha256').update(signing.chain.leaf.der).digest('hex');
  // Not to know only means to go one by one; and perhaps nobody will ask.
  const known = signing.claims.isProven({ origin: signing.origin, code, leaf }).catch(() => false);

  async function request(
    digest: Uint8Array,
    { path, extra }: SignatureWork,
    turn: RequestTurn,
    around: AroundAttempts,
  ): Promise<SignatureRecord> {
    const beforeSend = async (): Promise<void> => {
      await around.beforeSend();
      turn.send();
    };
    const beforeRetry = async (error: CodesignError): Promise<void> => {
      turn.repeat(error);
      await around.beforeRetry(error);
    };
    try {
      const file = maskFilename(signing.client.mask, path);
      const hooks = { beforeSend, beforeRetry };
      return await service.sign({ code, algorithm: signing.algorithm, digest, extra, file, ...hooks }, batch.signal);
    } catch (thrown) {
      // Stopped while it waited to be repeated: then what stopped the batch is the reason, and not this call.
      if (batch.signal.aborted && toCodesignError(thrown).code === 'interrupted') batch.assertGoing();
      const error = toCodesignError(thrown);
      if (spoilsBatch(error) || (!turns.isProven() && isWithoutConnection(error))) {
        batch.stop(reasonToStop(error), error);
      }
      turn.fail(error);
      throw error;
    }
  }

  async function claimFor(work: SignatureWork, digest: Uint8Array): Promise<Claim> {
    try {
      return await signing.claims.claim(workOf(signing, code, digest), factsOf(signing, work), {
        signal: batch.signal,
        onWait: (whom) => signing.onEvent({ type: 'waiting', path: work.path, whom }),
      });
    } catch (thrown) {
      if (batch.signal.aborted && toCodesignError(thrown).code === 'claim-interrupted') batch.assertGoing();
      throw thrown;
    }
  }

  async function requestChecked(work: SignatureWork, turn: RequestTurn): Promise<GivenSignature> {
    batch.assertGoing();
    const digest = digestToBeSigned(work.toBeSigned, signing);
    const claim = await claimFor(work, digest);
    work.onClaim(claim);
    if (claim.known !== undefined) return useKnown(claim, claim.known, work, turn);
    await orRelease(claim, async () => {
      batch.assertGoing();
      await work.beforeRequest();
    });
    const record = await askOnRecord(claim, (around) => request(digest, work, turn, around), work.warn);
    signing.onEvent({ type: 'signature-given', path: work.path });
    const mismatch = findMismatch(signing, code, work.toBeSigned, record);
    if (mismatch) {
      batch.stop('the certificate does not match the key at the service', mismatch);
      await noted(() => claim.unusable(mismatch.message), work.warn);
      throw mismatch;
    }
    turn.succeed();
    return { record, reused: false };
  }

  /** One that does not verify was given for another certificate: with this one the work has a call of its own. */
  async function useKnown(
    claim: Claim,
    given: SignatureOnRecord,
    work: SignatureWork,
    turn: RequestTurn,
  ): Promise<GivenSignature> {
    const record = { id: given.record, signature: given.signature };
    const mismatch = findMismatch(signing, code, work.toBeSigned, record);
    if (mismatch === undefined) {
      turns.prove();
      return { record, reused: true };
    }
    await claim.unusable(mismatch.message);
    return requestChecked(work, turn);
  }

  return async (work) => {
    if (await known) turns.prove();
    const turn = await turns.take();
    try {
      return await requestChecked(work, turn);
    } finally {
      turn.leave();
    }
  };
}

async function orRelease(claim: Claim, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    await letGo(claim);
    throw thrown;
  }
}

function reasonToStop(error: CodesignError): string {
  if (isUnauthorized(error)) return 'the service does not accept the credentials';
  if (isWithoutConnection(error)) return 'there is no connection to the service';
  return 'the service gives signatures that cannot be read';
}

/** The service gave a signature that cannot be used: counted, to be reported as failed. */
function findMismatch(
  { chain, algorithm }: Signing,
  code: string,
  toBeSigned: Uint8Array,
  { id, signature }: SignatureRecord,
): CodesignError | undefined {
  const details = { code, certificate: chain.leaf.name };
  if (signature.length !== chain.signatureLength) {
    const why = `: it has ${signature.length} bytes, and this key makes ${chain.signatureLength}`;
    return signingErrors('signature-mismatch', { ...details, why }, { record: id });
  }
  if (isRsaSignature(chain.publicKey, algorithm, toBeSigned, signature)) return undefined;
  return signingErrors('signature-mismatch', details, { record: id });
}
