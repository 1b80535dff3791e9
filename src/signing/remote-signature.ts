/** Asking the service for a signature: at most one unproven call at a time, and every answer checked with the certificate's key. */

import { createHash } from 'node:crypto';
import { NODE_DIGEST_NAME } from '../crypto/algorithms.ts';
import { isRsaSignature } from '../crypto/rsa-signature.ts';
import { CodesignError, toCodesignError } from '../errors/codesign-error.ts';
import { isUnauthorized, isWithoutConnection, spoilsBatch } from '../service/errors.ts';
import type { Extra } from '../service/messages.ts';
import type { SignatureRecord, SigningService } from '../service/signing-service.ts';
import type { Batch } from './batch.ts';
import { signingErrors } from './errors.ts';
import type { Signing } from './signing.ts';

export interface SignatureWork {
  readonly toBeSigned: Uint8Array;
  readonly extra: Extra | undefined;
}

/** One signature for one piece of work. Wrapping it is how a journal or the sharing of equal work comes in. */
export type RequestSignature = (work: SignatureWork) => Promise<SignatureRecord>;

/** The digest of `toBeSigned` that goes to the service. */
export function digestToBeSigned(toBeSigned: Uint8Array, { algorithm }: Pick<Signing, 'algorithm'>): Uint8Array {
  return createHash(NODE_DIGEST_NAME[algorithm]).update(toBeSigned).digest();
}

/**
 * Until one signature has verified, certificate number and certificate may not belong together and each call may be
 * wasted, so calls go one after the other; from then on all at once. A 401 or a mismatch stops the batch.
 */
export function requestSignatures(
  signing: Signing,
  service: SigningService,
  code: string,
  batch: Batch,
): RequestSignature {
  let proven = false;
  let turn: Promise<unknown> = Promise.resolve();

  async function requestChecked({ toBeSigned, extra }: SignatureWork): Promise<SignatureRecord> {
    batch.assertGoing();
    const { algorithm } = signing;
    const record = await service
      .sign({ code, algorithm, digest: digestToBeSigned(toBeSigned, signing), extra }, batch.signal)
      .catch((thrown: unknown) => {
        const error = toCodesignError(thrown);
        if (spoilsBatch(error) || (!proven && isWithoutConnection(error))) batch.stop(reasonToStop(error), error);
        throw error;
      });
    const mismatch = findMismatch(signing, code, toBeSigned, record.signature);
    if (mismatch) {
      batch.stop('the certificate does not match the key at the service', mismatch);
      throw new UnusableSignature(record, mismatch);
    }
    proven = true;
    return record;
  }

  return async (work) => {
    while (!proven) {
      const before = turn;
      const mine = before.then(() => (proven ? undefined : requestChecked(work)));
      turn = mine.catch(() => undefined);
      const record = await mine;
      if (record) return record;
    }
    return requestChecked(work);
  };
}

function reasonToStop(error: CodesignError): string {
  if (isUnauthorized(error)) return 'the service does not accept the credentials';
  return isWithoutConnection(error)
    ? 'there is no connection to the service'
    : 'the service gives signatures that cannot be read';
}

/** The service gave a signature that cannot be used: counted, to be reported as failed. */
export class UnusableSignature extends CodesignError {
  readonly record: SignatureRecord;

  constructor(record: SignatureRecord, { code, category, message, hint }: CodesignError) {
    super({ code, category, message, hint });
    this.record = record;
  }
}

function findMismatch(
  { chain, algorithm }: Signing,
  code: string,
  toBeSigned: Uint8Array,
  signature: Uint8Array,
): CodesignError | undefined {
  const details = { code, certificate: chain.leaf.name };
  if (signature.length !== chain.signatureLength) {
    const why = `: it has ${signature.length} bytes, and this key makes ${chain.signatureLength}`;
    return signingErrors('signature-mismatch', { ...details, why });
  }
  if (isRsaSignature(chain.publicKey, algorithm, toBeSigned, signature)) return undefined;
  return signingErrors('signature-mismatch', details);
}
