/** One call for a signature, on record: what the journal is told of it, and what it knows already. */

import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { type CodesignError, toCodesignError } from '../../errors/codesign-error.ts';
import type { CallMetadata, Claim, Work } from '../../journal/journal.ts';
import { mayHaveBeenCounted } from '../../service/errors.ts';
import type { SignatureRecord, SignRequest } from '../../service/signing-service.ts';
import { signingErrors } from '../errors.ts';
import type { Signing } from '../signing.ts';

export interface FileOfCall {
  /** Both as the user gave them. */
  readonly path: string;
  readonly output: string;
  /** Size of the file. */
  readonly bytes: number;
}

export function factsOf(signing: Signing, { path, output, bytes }: FileOfCall): CallMetadata {
  const { chain, client, existing, formatOptions, report } = signing;
  const sha256 = createHash('sha256').update(chain.leaf.der).digest('hex');
  return {
    file: path,
    bytes,
    certificate: { name: chain.leaf.name, sha256 },
    client: client.id,
    // Absolute: `resume` may run in another folder.
    signingOptions: {
      path: resolve(path),
      output: resolve(output),
      existing,
      formatOptions,
      report,
    },
  };
}

export function workOf({ origin, algorithm }: Signing, code: string, digest: Uint8Array): Work {
  return { origin, code, algorithm, digest };
}

/** What the service awaits around each attempt. */
export type AroundAttempts = {
  readonly [Hook in 'beforeSend' | 'beforeRetry']: NonNullable<SignRequest[Hook]>;
};

/**
 * Requests a signature, and records it in the journal directly before each attempt is sent and after the answer. If the
 * journal cannot keep an answer, that is a warning. Throws what `request` throws, and what keeps the journal from
 * recording the request.
 */
export async function askOnRecord(
  claim: Claim,
  request: (around: AroundAttempts) => Promise<SignatureRecord>,
  warn: (sentence: string) => void,
): Promise<SignatureRecord> {
  if (claim.justUnanswered) {
    await letGo(claim);
    throw signingErrors('just-unanswered');
  }
  for (const id of claim.unknownCalls) {
    warn(`An earlier call for this signature may have been counted: nobody knows how it ended (journal ${id}).`);
  }
  let isUnsent = false;
  const around: AroundAttempts = {
    async beforeSend() {
      isUnsent = true;
      await claim.requested();
      isUnsent = false;
    },
    beforeRetry: () => noted(() => claim.deferred(), warn),
  };
  let record: SignatureRecord;
  try {
    record = await request(around);
  } catch (thrown) {
    // If the journal cannot record the request, it is not sent. Other processes need not wait for it.
    if (isUnsent) await letGo(claim);
    else await noteFailure(claim, toCodesignError(thrown), warn);
    throw thrown;
  }
  await noted(() => claim.signed({ signature: record.signature, record: record.id }), warn);
  return record;
}

/** Never throws: that would hide why the claim is given up. One that cannot be let go ends with its process. */
export async function letGo(claim: Claim): Promise<void> {
  await noted(
    () => claim.release(),
    () => undefined,
  );
}

async function noteFailure(claim: Claim, error: CodesignError, warn: (sentence: string) => void): Promise<void> {
  await noted(() => (mayHaveBeenCounted(error) ? claim.unanswered(error.message) : claim.refused(error.message)), warn);
}

/** For what is done already: the journal that cannot note it changes nothing about it. */
export async function noted(step: () => Promise<void>, warn: (sentence: string) => void): Promise<void> {
  try {
    await step();
  } catch (thrown) {
    warn(`The journal could not be written: ${toCodesignError(thrown).message}.`);
  }
}
