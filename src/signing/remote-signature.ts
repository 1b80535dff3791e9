/** Asking the service for a signature: at most one unproven call at a time, and every answer checked with the certificate's key. */

import { createHash } from 'node:crypto';
import { NODE_DIGEST_NAME } from '../crypto/algorithms.ts';
import { isRsaSignature } from '../crypto/rsa-signature.ts';
import { type CodesignError, toCodesignError } from '../errors/codesign-error.ts';
import { isUnauthorized, isWithoutConnection, spoilsBatch } from '../service/errors.ts';
import type { Extra } from '../service/messages.ts';
import type { SignatureRecord, SigningService } from '../service/signing-service.ts';
import type { Batch } from './batch.ts';
import { signingErrors } from './errors.ts';
import type { Signing } from './signing.ts';

export interface SignatureWork {
  readonly toBeSigned: Uint8Array;
  readonly extra: Extra | undefined;
  /** Throws when the signature would be in vain by now; called directly before the request. */
  readonly beforeRequest: () => Promise<void>;
}

/** One signature for one piece of work. Wrapping it is how a journal or the sharing of equal work comes in. */
export type RequestSignature = (work: SignatureWork) => Promise<SignatureRecord>;

/** The digest of `toBeSigned` that goes to the service. */
export function digestToBeSigned(toBeSigned: Uint8Array, { algorithm }: Pick<Signing, 'algorithm'>): Uint8Array {
  return createHash(NODE_DIGEST_NAME[algorithm]).update(toBeSigned).digest();
}

/**
 * Until one signature has verified, certificate number and certificate may not belong together and each call may be
 * wasted, so calls go one after the other; from then on all at once. A 401 or a mismatch stops the batch, and so does a
 * service that cannot be reached as long as it has not given a signature.
 */
export function requestSignatures(
  signing: Signing,
  service: SigningService,
  code: string,
  batch: Batch,
): RequestSignature {
  let proven = false;
  let turn: Promise<unknown> = Promise.resolve();

  async function request({ toBeSigned, extra }: SignatureWork): Promise<SignatureRecord> {
    const digest = digestToBeSigned(toBeSigned, signing);
    try {
      return await service.sign({ code, algorithm: signing.algorithm, digest, extra }, batch.signal);
    } catch (thrown) {
      // Stopped while it waited to be repeated: then what stopped the batch is the reason, and not this call.
      if (batch.signal.aborted && toCodesignError(thrown).code === 'interrupted') batch.assertGoing();
      const error = toCodesignError(thrown);
      if (spoilsBatch(error) || (!proven && isWithoutConnection(error))) batch.stop(reasonToStop(error), error);
      throw error;
    }
  }

  async function requestChecked(work: SignatureWork): Promise<SignatureRecord> {
    batch.assertGoing();
    await work.beforeRequest();
    const record = await request(work);
    const mismatch = findMismatch(signing, code, work.toBeSigned, record);
    if (mismatch) {
      batch.stop('the certificate does not match the key at the service', mismatch);
      throw mismatch;
    }
    proven = true;
    return record;
  }

  return async (work) => {
    while (!proven) {
      const mine = turn.then(() => (proven ? undefined : requestChecked(work)));
      turn = mine.catch(() => undefined);
      const record = await mine;
      if (record) return record;
    }
    return requestChecked(work);
  };
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
